# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_mainspring_global_optspecs
    string join \n h/help V/version
end

function __fish_mainspring_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_mainspring_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_mainspring_using_subcommand
    set -l cmd (__fish_mainspring_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c mainspring -n "__fish_mainspring_needs_command" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_needs_command" -s V -l version -d 'Print version'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "demo" -d 'Play a scripted agent through the machines, in a temporary project, and show what the agent and the person would see'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "install" -d 'Register with Claude Code: our hooks in its settings file, and two of its variables'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "uninstall" -d 'Take our entries out again, and bring back what was there'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "doctor" -d 'Look for what is wrong with this set-up, and name the command that puts it right'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "pulse" -d 'Check that Mainspring reaches the agent: its next stops are held with a sentence that says so, then it is let go'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "status" -d 'Show every machine\'s state in this project, and what may happen next'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "why" -d 'Explain the last decision: which machine, by which rule, on what it saw, and what would have made it go otherwise'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "log" -d 'Show what was decided here, oldest first: a line per decision'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "stop" -d 'Let everything here go at the agent\'s next stop, until `mainspring resume`'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "pause" -d 'Let everything here go for a while: 90s, 30m, 2h'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "resume" -d 'Go on with what was stopped or paused'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "observe" -d 'Only watch: never block, start nothing, and record what would have happened'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "trust" -d 'Allow effects in this project: reviewers, pull requests, anything that starts a program'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "untrust" -d 'Take the permission back'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "tasks" -d 'Keep the agent\'s task list, or write one for a skill'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "gate" -d 'Hold every stop until the agent says its done token itself'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "loop" -d 'Keep the agent iterating until it gives a completion signal'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "plan" -d 'A plan\'s state: record it, move it, look at it'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "claim" -d 'Claim an issue for this checkout, so that its pull request, checks and closing are taken care of'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "handoff" -d 'Hand the claimed work over: its pull request is opened at the agent\'s next stop'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "graph" -d 'Show a machine\'s transition table, with its state here marked'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "simulate" -d 'Say what would happen at an event, and change nothing'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "replay" -d 'Make the decisions of a journal again, and show the first that comes out differently'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "config" -d 'Show every setting: its value, and where it came from'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "hook" -d 'What hosts call: one event on stdin, one decision on stdout'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "compat" -d 'Stand in for a public script: its stdin, stdout, exit codes and messages'
complete -c mainspring -n "__fish_mainspring_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand demo" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand install" -l scope -d 'Which settings file' -r -f -a "user\t'Your own settings: every project'
project\t'The project\'s settings: this project, for everybody who works on it'
local\t'The project\'s settings that are not shared: this project, for you'"
complete -c mainspring -n "__fish_mainspring_using_subcommand install" -l without -d 'Leave a variable of the host\'s as it is' -r -f -a "cap\t'The limit on blocked stops: 100 in a row instead of 8'
task-tools\t'The agent\'s task tools'"
complete -c mainspring -n "__fish_mainspring_using_subcommand install" -l dry-run -d 'Show what would change, and change nothing'
complete -c mainspring -n "__fish_mainspring_using_subcommand install" -s y -l yes -d 'Do not ask'
complete -c mainspring -n "__fish_mainspring_using_subcommand install" -l print -d 'Only print what belongs into a settings file'
complete -c mainspring -n "__fish_mainspring_using_subcommand install" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand uninstall" -l scope -d 'Which settings file' -r -f -a "user\t'Your own settings: every project'
project\t'The project\'s settings: this project, for everybody who works on it'
local\t'The project\'s settings that are not shared: this project, for you'"
complete -c mainspring -n "__fish_mainspring_using_subcommand uninstall" -l dry-run -d 'Show what would change, and change nothing'
complete -c mainspring -n "__fish_mainspring_using_subcommand uninstall" -s y -l yes -d 'Do not ask'
complete -c mainspring -n "__fish_mainspring_using_subcommand uninstall" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand doctor" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand doctor" -l fix -d 'Put right what can be without a question'
complete -c mainspring -n "__fish_mainspring_using_subcommand doctor" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand pulse" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand status" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand status" -l line -d 'In one line, for the host\'s status line; nothing where nothing is going on'
complete -c mainspring -n "__fish_mainspring_using_subcommand status" -s w -l watch -d 'Go on showing it, until interrupted'
complete -c mainspring -n "__fish_mainspring_using_subcommand status" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand why" -l machine -d 'Only what this machine said or did' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand why" -l session -d 'Only this session (its id, or the beginning of it)' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand why" -l since -d 'Only what is younger: 90s, 30m, 2h' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand why" -s n -l last -d 'Explain the last N decisions, the latest first' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand why" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand why" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand log" -l machine -d 'Only what this machine said or did' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand log" -l session -d 'Only this session (its id, or the beginning of it)' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand log" -l since -d 'Only what is younger: 90s, 30m, 2h' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand log" -s n -l last -d 'At most this many, the latest' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand log" -s f -l follow -d 'Go on showing what is decided, until interrupted'
complete -c mainspring -n "__fish_mainspring_using_subcommand log" -l json -d 'The records as JSON, one per line'
complete -c mainspring -n "__fish_mainspring_using_subcommand log" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand pause" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand resume" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand observe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand trust" -l list -d 'List the trusted projects'
complete -c mainspring -n "__fish_mainspring_using_subcommand trust" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand trust" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand untrust" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "list" -d 'Show all tasks'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "next" -d 'Show what can be started now'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "start" -d 'Begin a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "done" -d 'Complete a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "add" -d 'Add a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "note" -d 'Write something down about a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "validate" -d 'Check a skill\'s fsm.json'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "preview" -d 'Show a skill\'s fsm.json as a graph'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and not __fish_seen_subcommand_from list next start done add note validate preview help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from list" -l list -d 'The list\'s name: usually a session\'s id. An agent\'s own list needs none' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from list" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from next" -l list -d 'The list\'s name: usually a session\'s id. An agent\'s own list needs none' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from next" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from next" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from start" -l list -d 'The list\'s name: usually a session\'s id. An agent\'s own list needs none' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from done" -l list -d 'The list\'s name: usually a session\'s id. An agent\'s own list needs none' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from done" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from add" -l description -d 'What it is about' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from add" -l after -d 'A task that has to be completed before' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from add" -l list -d 'The list\'s name: usually a session\'s id. An agent\'s own list needs none' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from note" -l list -d 'The list\'s name: usually a session\'s id. An agent\'s own list needs none' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from note" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from preview" -l mermaid -d 'For a page that draws Mermaid'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from preview" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show all tasks'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "next" -d 'Show what can be started now'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "start" -d 'Begin a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "done" -d 'Complete a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "add" -d 'Add a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "note" -d 'Write something down about a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "validate" -d 'Check a skill\'s fsm.json'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "preview" -d 'Show a skill\'s fsm.json as a graph'
complete -c mainspring -n "__fish_mainspring_using_subcommand tasks; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and not __fish_seen_subcommand_from on off status check help" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and not __fish_seen_subcommand_from on off status check help" -f -a "on" -d 'Switch the gate on'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and not __fish_seen_subcommand_from on off status check help" -f -a "off" -d 'Switch the gate off'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and not __fish_seen_subcommand_from on off status check help" -f -a "status" -d 'Is it on, and what is it waiting for?'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and not __fish_seen_subcommand_from on off status check help" -f -a "check" -d 'Exit 0 if the agent said its done token, and print where'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and not __fish_seen_subcommand_from on off status check help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from on" -l session -d 'The session: its id, or `last`; the agent\'s own if it is not given' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from on" -l project -d 'For every session in this project, not for one'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from on" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from off" -l session -d 'The session: its id, or `last`; the agent\'s own if it is not given' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from off" -l project -d 'For every session in this project, not for one'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from off" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from status" -l session -d 'The session: its id, or `last`; the agent\'s own if it is not given' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from status" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from check" -l session -d 'The session whose token is looked for' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "on" -d 'Switch the gate on'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "off" -d 'Switch the gate off'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "status" -d 'Is it on, and what is it waiting for?'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "check" -d 'Exit 0 if the agent said its done token, and print where'
complete -c mainspring -n "__fish_mainspring_using_subcommand gate; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -f -a "start" -d 'Start a loop'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -f -a "push" -d 'Start an inner loop; the one around it goes on when it ends'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -f -a "status" -d 'The loop that runs here'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -f -a "abort" -d 'End the loop, with every frame of it'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -f -a "list" -d 'The frames of the stack, outermost first'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -f -a "adopt" -d 'Give the loop to a session'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and not __fish_seen_subcommand_from start push status abort list adopt help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from start" -l mode -d 'Which signals end it' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from start" -l max -d 'How many iterations; 10 if it is not given, 100 for a grind' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from start" -l prompt -d 'What to do' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from start" -l prompt-file -d 'A file with what to do' -r -F
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from start" -l session -d 'The session: its id, or `last`; the agent\'s own if it is not given' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from start" -l store -d 'Where it is kept: our own file, a topic of jwz, or .claude/idle-loop.local.md' -r -f -a "own\t''
jwz\t''
markdown\t''"
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from push" -l mode -d 'Which signals end it' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from push" -l max -d 'How many iterations; 10 if it is not given, 100 for a grind' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from push" -l prompt -d 'What to do' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from push" -l prompt-file -d 'A file with what to do' -r -F
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from push" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from status" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from abort" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from list" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from adopt" -l session -d 'The session: its id, or `last`; the agent\'s own if it is not given' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from adopt" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from help" -f -a "start" -d 'Start a loop'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from help" -f -a "push" -d 'Start an inner loop; the one around it goes on when it ends'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from help" -f -a "status" -d 'The loop that runs here'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from help" -f -a "abort" -d 'End the loop, with every frame of it'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from help" -f -a "list" -d 'The frames of the stack, outermost first'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from help" -f -a "adopt" -d 'Give the loop to a session'
complete -c mainspring -n "__fish_mainspring_using_subcommand loop; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "init" -d 'Record a new plan, whose first review is then due'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "advance" -d 'Record that an action is done: the state is then what it must be'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "set" -d 'Set one field by hand: `max_reviews` N, `next_phase` PHASE or null, `tdd` true or false, `current_task` ID or null'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "adopt" -d 'Give the plan to this session; typed by a person, to the next one that stops here'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "route" -d 'Say what continuing the plan means now; an agent that asks makes the plan its own'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "status" -d 'Show where a plan stands, its next step, and every review with its cost'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "list" -d 'Show every plan, the one that was changed last first'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "review" -d 'Run the review that is due, without waiting for a stop; a parked one is tried again'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and not __fish_seen_subcommand_from init advance set adopt route status list review help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from init" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from advance" -l task -d 'The task that it was about' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from advance" -l plan -d 'The plan\'s name, if it is not the one that was changed last' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from advance" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from set" -l plan -d 'The plan\'s name, if it is not the one that was changed last' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from adopt" -l session -d 'To this session' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from adopt" -l plan -d 'The plan\'s name, if it is not the one that was changed last' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from adopt" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from route" -l plan -d 'The plan\'s name, if it is not the one that was changed last' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from route" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from route" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from status" -l plan -d 'The plan\'s name, if it is not the one that was changed last' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from status" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from list" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from review" -l plan -d 'The plan\'s name, if it is not the one that was changed last' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from review" -l now -d 'Start it now: it takes minutes, and costs what a review costs'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from review" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "init" -d 'Record a new plan, whose first review is then due'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "advance" -d 'Record that an action is done: the state is then what it must be'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "set" -d 'Set one field by hand: `max_reviews` N, `next_phase` PHASE or null, `tdd` true or false, `current_task` ID or null'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "adopt" -d 'Give the plan to this session; typed by a person, to the next one that stops here'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "route" -d 'Say what continuing the plan means now; an agent that asks makes the plan its own'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show where a plan stands, its next step, and every review with its cost'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show every plan, the one that was changed last first'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "review" -d 'Run the review that is due, without waiting for a stop; a parked one is tried again'
complete -c mainspring -n "__fish_mainspring_using_subcommand plan; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -l branch -d 'The branch to work on, in place of one made from the issue\'s title' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -l worktree -d 'Work in a new worktree beside this checkout'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -l steal -d 'Take it over from somebody who has had it for more than a day'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -a "status" -d 'Show the claim of this checkout: issue, branch, phase, pull request, waiting messages'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -a "done" -d 'The pull request is merged and the user said yes: close the issue'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -a "abort" -d 'Give the issue back: card to Todo, assignment and claim removed. Branch, commits and pull request stay'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -a "watch" -d 'Wait for news of the pull request: what hosts run in the background'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and not __fish_seen_subcommand_from status done abort watch help" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from status" -l now -d 'Ask GitHub for the pull request\'s checks now'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from status" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from done" -l yes -d 'Close it without being asked again: only outside an agent'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from done" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from abort" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from watch" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from help" -f -a "status" -d 'Show the claim of this checkout: issue, branch, phase, pull request, waiting messages'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from help" -f -a "done" -d 'The pull request is merged and the user said yes: close the issue'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from help" -f -a "abort" -d 'Give the issue back: card to Todo, assignment and claim removed. Branch, commits and pull request stay'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from help" -f -a "watch" -d 'Wait for news of the pull request: what hosts run in the background'
complete -c mainspring -n "__fish_mainspring_using_subcommand claim; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand handoff" -l summary -d 'What the change does: the first line is the pull request\'s title' -r
complete -c mainspring -n "__fish_mainspring_using_subcommand handoff" -l push -d 'Push the branch first, with the repository\'s own hooks'
complete -c mainspring -n "__fish_mainspring_using_subcommand handoff" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand graph" -l format -d 'How to draw it' -r -f -a "text\t''
mermaid\t''
dot\t''"
complete -c mainspring -n "__fish_mainspring_using_subcommand graph" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand graph" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand simulate" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand simulate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand replay" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and not __fish_seen_subcommand_from check schema help" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and not __fish_seen_subcommand_from check schema help" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and not __fish_seen_subcommand_from check schema help" -f -a "check" -d 'Read the files as they are written, and name every problem with its line and column'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and not __fish_seen_subcommand_from check schema help" -f -a "schema" -d 'Print the JSON Schema of mainspring.toml'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and not __fish_seen_subcommand_from check schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and __fish_seen_subcommand_from check" -l json -d 'As JSON'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and __fish_seen_subcommand_from schema" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "check" -d 'Read the files as they are written, and name every problem with its line and column'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "schema" -d 'Print the JSON Schema of mainspring.toml'
complete -c mainspring -n "__fish_mainspring_using_subcommand config; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand hook" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand compat" -s h -l help -d 'Print help'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "demo" -d 'Play a scripted agent through the machines, in a temporary project, and show what the agent and the person would see'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "install" -d 'Register with Claude Code: our hooks in its settings file, and two of its variables'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "uninstall" -d 'Take our entries out again, and bring back what was there'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "doctor" -d 'Look for what is wrong with this set-up, and name the command that puts it right'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "pulse" -d 'Check that Mainspring reaches the agent: its next stops are held with a sentence that says so, then it is let go'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "status" -d 'Show every machine\'s state in this project, and what may happen next'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "why" -d 'Explain the last decision: which machine, by which rule, on what it saw, and what would have made it go otherwise'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "log" -d 'Show what was decided here, oldest first: a line per decision'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "stop" -d 'Let everything here go at the agent\'s next stop, until `mainspring resume`'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "pause" -d 'Let everything here go for a while: 90s, 30m, 2h'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "resume" -d 'Go on with what was stopped or paused'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "observe" -d 'Only watch: never block, start nothing, and record what would have happened'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "trust" -d 'Allow effects in this project: reviewers, pull requests, anything that starts a program'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "untrust" -d 'Take the permission back'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "tasks" -d 'Keep the agent\'s task list, or write one for a skill'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "gate" -d 'Hold every stop until the agent says its done token itself'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "loop" -d 'Keep the agent iterating until it gives a completion signal'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "plan" -d 'A plan\'s state: record it, move it, look at it'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "claim" -d 'Claim an issue for this checkout, so that its pull request, checks and closing are taken care of'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "handoff" -d 'Hand the claimed work over: its pull request is opened at the agent\'s next stop'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "graph" -d 'Show a machine\'s transition table, with its state here marked'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "simulate" -d 'Say what would happen at an event, and change nothing'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "replay" -d 'Make the decisions of a journal again, and show the first that comes out differently'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "config" -d 'Show every setting: its value, and where it came from'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "hook" -d 'What hosts call: one event on stdin, one decision on stdout'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "compat" -d 'Stand in for a public script: its stdin, stdout, exit codes and messages'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and not __fish_seen_subcommand_from demo install uninstall doctor pulse status why log stop pause resume observe trust untrust tasks gate loop plan claim handoff graph simulate replay config hook compat help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "list" -d 'Show all tasks'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "next" -d 'Show what can be started now'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "start" -d 'Begin a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "done" -d 'Complete a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "add" -d 'Add a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "note" -d 'Write something down about a task'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "validate" -d 'Check a skill\'s fsm.json'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from tasks" -f -a "preview" -d 'Show a skill\'s fsm.json as a graph'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from gate" -f -a "on" -d 'Switch the gate on'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from gate" -f -a "off" -d 'Switch the gate off'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from gate" -f -a "status" -d 'Is it on, and what is it waiting for?'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from gate" -f -a "check" -d 'Exit 0 if the agent said its done token, and print where'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from loop" -f -a "start" -d 'Start a loop'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from loop" -f -a "push" -d 'Start an inner loop; the one around it goes on when it ends'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from loop" -f -a "status" -d 'The loop that runs here'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from loop" -f -a "abort" -d 'End the loop, with every frame of it'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from loop" -f -a "list" -d 'The frames of the stack, outermost first'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from loop" -f -a "adopt" -d 'Give the loop to a session'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "init" -d 'Record a new plan, whose first review is then due'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "advance" -d 'Record that an action is done: the state is then what it must be'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "set" -d 'Set one field by hand: `max_reviews` N, `next_phase` PHASE or null, `tdd` true or false, `current_task` ID or null'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "adopt" -d 'Give the plan to this session; typed by a person, to the next one that stops here'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "route" -d 'Say what continuing the plan means now; an agent that asks makes the plan its own'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "status" -d 'Show where a plan stands, its next step, and every review with its cost'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "list" -d 'Show every plan, the one that was changed last first'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from plan" -f -a "review" -d 'Run the review that is due, without waiting for a stop; a parked one is tried again'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from claim" -f -a "status" -d 'Show the claim of this checkout: issue, branch, phase, pull request, waiting messages'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from claim" -f -a "done" -d 'The pull request is merged and the user said yes: close the issue'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from claim" -f -a "abort" -d 'Give the issue back: card to Todo, assignment and claim removed. Branch, commits and pull request stay'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from claim" -f -a "watch" -d 'Wait for news of the pull request: what hosts run in the background'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "check" -d 'Read the files as they are written, and name every problem with its line and column'
complete -c mainspring -n "__fish_mainspring_using_subcommand help; and __fish_seen_subcommand_from config" -f -a "schema" -d 'Print the JSON Schema of mainspring.toml'

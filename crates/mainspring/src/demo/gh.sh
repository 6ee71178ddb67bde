#!/bin/sh
# A GitHub of five answers, so that the demo needs no network. What it says of the pull
# request is in the file `pull` beside it.
question=$(cat)
here=${0%/*}
answer() {
    printf 'HTTP/1.1 200 OK\r\n\r\n%s' "$1"
}
poll() {
    answer "{\"data\":{\"repository\":{\"pullRequest\":{\"number\":107,\"url\":\"https://github.com/you/project/pull/107\",\"state\":\"$1\",\"headRefOid\":\"h\",\"reviewDecision\":null,\"baseRef\":null,\"commits\":{\"nodes\":[{\"commit\":{\"oid\":\"h\",\"statusCheckRollup\":{\"state\":\"PENDING\",\"contexts\":{\"totalCount\":2,\"nodes\":[{\"__typename\":\"CheckRun\",\"name\":\"lint\",\"status\":\"COMPLETED\",\"conclusion\":\"SUCCESS\",\"isRequired\":false},{\"__typename\":\"CheckRun\",\"name\":\"test\",\"status\":\"COMPLETED\",\"conclusion\":\"$2\",\"isRequired\":false}]}}}}]}}}}}"
}
case $question in
*ClaimFind*) answer '{"data":{"viewer":{"id":"U","login":"you"},"repository":{"viewerPermission":"WRITE","defaultBranchRef":{"name":"main","target":{"oid":"b"}},"issue":{"__typename":"Issue","id":"I","title":"Fix the race","state":"OPEN","assignees":{"nodes":[]},"comments":{"nodes":[]}},"pullRequests":{"nodes":[]}},"head":{"ref":{"target":{"oid":"h"}}}}}' ;;
*ClaimPoll* | *ClaimMerged*)
    read -r state conclusion <"$here/pull"
    poll "$state" "$conclusion"
    ;;
*ClaimChange*) answer '{"data":{}}' ;;
*) answer '{"number":107,"html_url":"https://github.com/you/project/pull/107"}' ;;
esac

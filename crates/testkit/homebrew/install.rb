# Stands in for Homebrew, which cannot be had everywhere: installs a formula from a folder with
# archives into a prefix, and runs the formula's test if it is asked to.
#
#   ruby install.rb FORMULA ARCHIVES PREFIX [--test]
require "digest"
require "fileutils"
require "pathname"
require "tmpdir"

FORMULA, ARCHIVES, PREFIX = ARGV.first(3).map { |word| Pathname(word) }

# A folder of the prefix.
class Place
  def initialize(folder)
    @folder = PREFIX / folder
  end

  def install(*files)
    @folder.mkpath
    files.flatten.each do |file|
      pairs = file.is_a?(Hash) ? file : { file => File.basename(file) }
      raise "nothing to install into #{@folder}" if pairs.empty?
      pairs.each { |from, name| FileUtils.cp(from, @folder / name, preserve: true) }
    end
    raise "nothing to install into #{@folder}" if files.flatten.empty?
  end

  def install_symlink(links)
    links.each { |from, name| FileUtils.ln_sf(from, @folder / name) }
  end

  def to_s
    @folder.to_s
  end
end

class Formula
  class << self
    attr_reader :address, :sum, :trial

    def desc(_) = nil
    def homepage(_) = nil
    def license(_) = nil
    def on_macos = nil
    def on_linux = yield
    def on_arm = RbConfig::CONFIG["host_cpu"].match?(/aarch64|arm64/) ? yield : nil
    def on_intel = RbConfig::CONFIG["host_cpu"] == "x86_64" ? yield : nil
    def version(number = nil) = @version ||= number
    def url(address) = @address = address
    def sha256(sum) = @sum = sum
    def test(&trial) = @trial = trial
  end

  {
    bin: "bin", man1: "share/man/man1", bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions", fish_completion: "share/fish/vendor_completions.d"
  }.each { |name, folder| define_method(name) { Place.new(folder) } }

  def version = self.class.version
  def shell_output(command) = `#{command}`

  def assert_match(expected, found)
    raise "#{found.inspect} has no #{expected.inspect}" unless found.include?(expected)
  end
end

load FORMULA.to_s
name = File.basename(Mainspring.address)
archive = ARCHIVES / name
raise "#{name} has another sum" unless Digest::SHA256.file(archive).hexdigest == Mainspring.sum

Dir.mktmpdir do |folder|
  system("tar", "-xzf", archive.to_s, "-C", folder, "--strip-components=1", exception: true)
  Dir.chdir(folder) { Mainspring.new.install }
end
Mainspring.new.instance_exec(&Mainspring.trial) if ARGV.include?("--test")

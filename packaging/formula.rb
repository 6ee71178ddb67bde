class Mainspring < Formula
  desc "@SUMMARY@"
  homepage "@REPOSITORY@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "@URL aarch64-apple-darwin@"
      sha256 "@SUM aarch64-apple-darwin@"
    end
    on_intel do
      url "@URL x86_64-apple-darwin@"
      sha256 "@SUM x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "@URL aarch64-unknown-linux-musl@"
      sha256 "@SUM aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "@URL x86_64-unknown-linux-gnu@"
      sha256 "@SUM x86_64-unknown-linux-gnu@"
    end
  end

  def install
    bin.install "mainspring"
    bin.install_symlink "mainspring" => "mainspring-hook"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/mainspring.bash" => "mainspring"
    zsh_completion.install "completions/_mainspring"
    fish_completion.install "completions/mainspring.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mainspring --version")
  end
end

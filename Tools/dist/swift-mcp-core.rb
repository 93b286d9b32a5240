# For a tap of Homebrew: put it into Formula/ and set the address of the release.
class SwiftMcpCore < Formula
  desc "Server and client of the Model Context Protocol"
  homepage "https://modelcontextprotocol.io"
  url "https://example.com/swift-mcp-core/releases/swift-mcp-core-@VERSION@.tar.gz"
  sha256 "@SHA256@"
  license "MIT"

  depends_on xcode: ["26.0", :build]
  depends_on macos: :sequoia
  uses_from_macos "swift" => :build

  def install
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "mcp-server"
    system "swift", "build", "--disable-sandbox", "-c", "release", "--product", "mcp-client"
    system "make", "man", "BIN=.build/release"
    ENV["PREFIX"] = prefix.to_s
    system "Tools/dist/install.sh", "install", ".build/release"
    (etc/"mcp-server").install "Tools/dist/mcp.jsonc" unless (etc/"mcp-server/mcp.jsonc").exist?
  end

  service do
    run [opt_bin/"mcp-server", "-c", etc/"mcp-server/mcp.jsonc"]
    keep_alive successful_exit: false
    log_path var/"log/mcp-server.log"
    error_log_path var/"log/mcp-server.log"
  end

  test do
    assert_equal "mcp-server #{version}\n", shell_output("#{bin}/mcp-server version")
    assert_equal "{\"sum\":42}\n",
                 shell_output("#{bin}/mcp-client call add a=2 b=40 -- #{bin}/mcp-server --demo")
  end
end

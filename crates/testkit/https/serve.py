"""Serves a folder over HTTPS on loopback, as a forge serves a release, until stdin ends.

    python3 serve.py FOLDER ADDRESS KEYS

Files of FOLDER are at ADDRESS (/releases/download/v1.0.0). Prints the port. KEYS/root.pem is the
certificate that a client has to trust; it and all other keys are made anew."""

import http.server
import pathlib
import ssl
import subprocess
import sys
import threading

folder, address, keys = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, cwd=keys, capture_output=True)


def certify():
    """A root, and a certificate for loopback that it signed."""
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *new, "-days", "2", "-subj", "/CN=root", "-keyout", "root.key", "-out", "root.pem")
    openssl("req", *new, "-subj", "/CN=loopback", "-keyout", "server.key", "-out", "server.csr")
    (keys / "server.ext").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    signed = ("-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-extfile", "server.ext")
    openssl("x509", "-req", "-in", "server.csr", *signed, "-days", "2", "-out", "server.pem")


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        place, _, name = self.path.rpartition("/")
        file = folder / name
        if place != address or not file.is_file():
            return self.send_error(404)
        data = file.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """A client that has read enough leaves."""


keys.mkdir(parents=True, exist_ok=True)
certify()
server = Server(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(keys / "server.pem", keys / "server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()

// Package queue hands tasks to workers in this process, in others and on other machines, and brings their replies back, over NATS JetStream. The
// server is part of the program: [Start] runs one without any port for workers in the same process, and [Listen] one that others join
// with a token and TLS. An existing NATS cluster does as well.
//
// A task is a key and a few bytes. It is handed out until there is a reply; the first reply counts. Tasks and replies can be lost with
// the server: who owns a sweep submits what has no reply again, and that is all that there is to recovery.
package queue

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// maxPayload bounds a message, bytes: a reply holds a report.
const maxPayload = 8 << 20

// upWithin is how long a server has to come up.
const upWithin = 30 * time.Second

// A Server is a NATS server of this process.
type Server struct {
	folder string // to be removed at the end, "" for none
	token  string
	pin    string
	memory bool

	mu      sync.Mutex // of what follows
	server  *server.Server
	options *server.Options
}

// Start runs a server that nobody outside of this process can reach. It keeps nothing.
func Start() (*Server, error) {
	folder, err := os.MkdirTemp("", "gpa-queue-")
	if err != nil {
		return nil, err
	}
	s := &Server{folder: folder, memory: true}
	if err := s.run(&server.Options{DontListen: true, StoreDir: folder}); err != nil {
		os.RemoveAll(folder)
		return nil, err
	}
	return s, nil
}

// Listen runs a server at an address as host:port that asks for a token and speaks TLS only, with a key of its own. Token, key and tasks are
// kept in a folder, so that a server that is started again is the same to those who had joined.
func Listen(address, folder string) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", address, err)
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q has no port number", address)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	token, err := keptToken(filepath.Join(folder, "token"))
	if err != nil {
		return nil, err
	}
	cert, err := keptCertificate(filepath.Join(folder, "key.pem"))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(cert.Certificate[0])
	s := &Server{token: token, pin: hex.EncodeToString(sum[:])}
	o := &server.Options{
		Host: host, Port: int(number), StoreDir: folder, SyncAlways: true, Authorization: token,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}, TLSTimeout: 10,
	}
	if number == 0 {
		o.Port = server.RANDOM_PORT
	}
	return s, s.run(o)
}

func (s *Server) run(o *server.Options) (err error) {
	s.options = o.Clone()
	o.ServerName, o.NoSigs, o.NoLog, o.JetStream, o.MaxPayload = "gpa", true, true, true, maxPayload
	o.JetStreamMaxMemory, o.JetStreamMaxStore = 1<<30, 1<<40
	if s.server, err = server.NewServer(o); err != nil {
		return fmt.Errorf("queue server: %w", err)
	}
	go s.server.Start()
	if !s.server.ReadyForConnections(upWithin) {
		s.server.Shutdown()
		return errors.New("queue server: it does not come up; is the address in use?")
	}
	return nil
}

// Restart ends the server and starts it again with what it has kept, at the same address. Those who had joined come back by themselves, and so
// do connections of this process. A server does not recover by itself from an error of its disk.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.server.Addr().(*net.TCPAddr); ok {
		s.options.Port = at.Port
	}
	s.server.Shutdown()
	s.server.WaitForShutdown()
	return s.run(s.options)
}

// InProcessConn connects to the server as it runs now.
func (s *Server) InProcessConn() (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.server.InProcessConn()
}

// Close ends the server.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.server.Shutdown()
	s.server.WaitForShutdown()
	if s.folder != "" {
		os.RemoveAll(s.folder)
	}
}

// Join is what [Dial] takes to reach the server from elsewhere: it holds the token and the hash of the server's certificate. host stands for
// the address where the server listens at all.
func (s *Server) Join(host string) string {
	at, ok := s.server.Addr().(*net.TCPAddr)
	if !ok {
		return ""
	}
	if host == "" {
		host = at.IP.String()
		if at.IP.IsUnspecified() {
			host, _ = os.Hostname()
		}
	}
	u := url.URL{Scheme: "tls", User: url.User(s.token), Host: net.JoinHostPort(host, strconv.Itoa(at.Port)), Fragment: s.pin}
	return u.String()
}

// Connect is a connection within the process.
func (s *Server) Connect() (*Conn, error) {
	o := append(lasting(), nats.InProcessServer(s))
	if s.token != "" {
		o = append(o, nats.Token(s.token))
	}
	nc, err := nats.Connect("", o...)
	return &Conn{nc: nc, memory: s.memory}, err
}

// A Conn is a connection to a server.
type Conn struct {
	nc     *nats.Conn
	memory bool // tasks need not outlive the server
}

// Close ends the connection.
func (c *Conn) Close() { c.nc.Close() }

// lasting are the options of a connection that comes back however long the server is away.
func lasting() []nats.Option {
	return []nats.Option{
		nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.RetryOnFailedConnect(true), nats.Name("gpa"),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // those of calls are returned by them, and what is lost is asked for again
	}
}

// Dial connects to what Join names, given itself or as @NAME of the file that holds it, or to another NATS server by its URL. A certificate other
// than that of which the URL holds the hash is refused.
func Dial(join string) (*Conn, error) {
	if name, ok := strings.CutPrefix(join, "@"); ok {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		join = string(data)
	}
	u, err := url.Parse(strings.TrimSpace(join))
	if err != nil || u.Host == "" {
		return nil, errors.New("that is no URL of a server, as tls://TOKEN@HOST:PORT#CERTIFICATE or nats://HOST:PORT") // without what it holds
	}
	o := lasting()
	if u.Fragment != "" {
		pin, err := hex.DecodeString(u.Fragment)
		if err != nil || len(pin) != sha256.Size {
			return nil, errors.New("what follows # in the URL is not the SHA-256 of a certificate")
		}
		u.Fragment = ""
		o = append(o, nats.Secure(pinned(pin)))
	}
	nc, err := nats.Connect(u.String(), o...)
	if err != nil {
		return nil, fmt.Errorf("queue: %w", err)
	}
	return &Conn{nc: nc}, nil
}

// Connected waits for the connection, and returns why there is none.
func (c *Conn) Connected(within time.Duration) error {
	for end := time.Now().Add(within); !c.nc.IsConnected(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			if err := c.nc.LastError(); err != nil {
				return fmt.Errorf("queue: %w", err)
			}
			return errors.New("queue: the server does not answer")
		}
	}
	return nil
}

// pinned trusts one certificate, whoever signed it and whatever the server is called.
func pinned(pin []byte) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // what is verified is below
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error {
			if len(raw) > 0 {
				if sum := sha256.Sum256(raw[0]); subtle.ConstantTimeCompare(sum[:], pin) == 1 {
					return nil
				}
			}
			return errors.New("the server has another certificate than the one that the URL names")
		},
	}
}

// keptToken reads a token, or makes one.
func keptToken(name string) (string, error) {
	data, err := os.ReadFile(name)
	if err == nil && len(data) > 0 {
		return strings.TrimSpace(string(data)), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	token := rand.Text()
	return token, os.WriteFile(name, []byte(token+"\n"), 0o600)
}

// keptCertificate reads a self-signed certificate with its key, or makes one.
func keptCertificate(name string) (tls.Certificate, error) {
	if data, err := os.ReadFile(name); err == nil {
		return tls.X509KeyPair(data, data)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "gpa sweep serve"}, NotBefore: now.Add(-24 * time.Hour), NotAfter: now.AddDate(10, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	data := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(data, data)
}

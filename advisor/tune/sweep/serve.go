package sweep

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// pageRefresh is how often a browser loads the page of a sweep that runs, seconds.
const pageRefresh = 5

// ServePage serves the results of a sweep that runs as a web page at an address of this machine, and its counts, as last tells them, as JSON, to
// browsers on this machine until end is called. Others reach it by a tunnel only: it asks for no token. at is where it listens.
func (s *Sweep) ServePage(address string, last func() *Counts) (at net.Addr, end func(), err error) {
	listener, err := listenHere(address)
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		r, err := s.Results()
		var page bytes.Buffer
		if err == nil {
			err = r.HTML(&page, pageRefresh, last())
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		w.Write(page.Bytes())
	})
	mux.HandleFunc("GET /progress.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(last())
	})
	server := &http.Server{Handler: onlyHere(mux), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	return listener.Addr(), func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		server.Shutdown(ctx)
	}, nil
}

// listenHere listens at an address of this machine alone.
func listenHere(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		listener.Close()
		return nil, fmt.Errorf("%s can be reached from other machines; 127.0.0.1:PORT cannot", address)
	}
	return listener, nil
}

// onlyHere refuses requests that a page of another site has a browser make by a name of its own for this machine.
func onlyHere(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkHost(r.Host); err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func checkHost(text string) error {
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		host = text
	}
	if at, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !at.IsLoopback()) {
		return errors.New("this page is for browsers on the same machine")
	}
	return nil
}

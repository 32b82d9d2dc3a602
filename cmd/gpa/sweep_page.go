package main

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

	"gpa/advisor/tune/sweep"
)

// pageRefresh is how often a browser loads the page of a sweep that runs, seconds.
const pageRefresh = 5

// servePage serves the results of a sweep that runs as a web page, and its counts as JSON, to browsers on this machine until end is called. Others reach it by a
// tunnel only: it asks for no token.
func servePage(e *env, address string, s *sweep.Sweep, p *sweepProgress) (end func(), err error) {
	listener, err := listenHere(address)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		r, err := s.Results()
		var page bytes.Buffer
		if err == nil {
			err = r.HTML(&page, pageRefresh, p.last.Load())
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
		json.NewEncoder(w).Encode(p.last.Load())
	})
	server := &http.Server{Handler: onlyHere(mux), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	fmt.Fprintf(e.stderr, "gpa sweep: its page is http://%s/\n", listener.Addr())
	return func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		server.Shutdown(ctx)
	}, nil
}

// listenHere listens at an address of this machine alone.
func listenHere(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, usagef("--page: %w", err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		listener.Close()
		return nil, usagef("--page: %s can be reached from other machines; 127.0.0.1:PORT cannot", address)
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

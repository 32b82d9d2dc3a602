package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// bucketScheme begins the names of stores with a bucket: s3://BUCKET/PREFIX.
const bucketScheme = "s3://"

// A bucket is a bucket of S3, or of what speaks its protocol, with the objects below a prefix.
type bucket struct {
	client *minio.Client
	name   string
	prefix string
}

// bucketPatience is how long one request may take with all that it is tried again: blobs may have hundreds of megabytes.
const bucketPatience = 10 * time.Minute

// openBucket makes the client of a bucket. Where it is, and who asks, the variables and files say that the AWS SDKs read: AWS_ENDPOINT_URL_S3 or
// AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or the profile AWS_PROFILE of
// the file of credentials, or the role of the machine.
func openBucket(name string) (*bucket, error) {
	name, prefix, _ := strings.Cut(strings.TrimPrefix(name, bucketScheme), "/")
	if name == "" {
		return nil, fmt.Errorf("store: %sBUCKET/PREFIX names a bucket", bucketScheme)
	}
	endpoint, err := url.Parse(cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com"))
	if err != nil || endpoint.Host == "" {
		return nil, fmt.Errorf("store: AWS_ENDPOINT_URL is no address of a server, as in https://HOST:PORT")
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if strings.HasSuffix(endpoint.Host, "amazonaws.com") { // elsewhere nobody answers for a machine's role
		providers = append(providers, &credentials.IAM{})
	}
	o := minio.Options{MaxRetries: 4, Creds: credentials.NewChainCredentials(providers), Secure: endpoint.Scheme != "http", Region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))}
	client, err := minio.New(endpoint.Host, &o)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return &bucket{client, name, prefix}, nil
}

// String names the bucket in messages.
func (b *bucket) String() string { return bucketScheme + path.Join(b.name, b.prefix) }

// object is the name of what lies in a folder of the store.
func (b *bucket) object(sub string, k Key) string {
	text := k.String()
	return path.Join(b.prefix, sub, text[:2], text)
}

// failed names the bucket in an error; what is not there is ErrMissing.
func (b *bucket) failed(err error) error {
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return ErrMissing
	}
	return fmt.Errorf("store %s: %w", b, err)
}

// get fetches an object.
func (b *bucket) get(sub string, k Key) ([]byte, error) {
	ctx, stop := context.WithTimeout(context.Background(), bucketPatience)
	defer stop()
	o, err := b.client.GetObject(ctx, b.name, b.object(sub, k), minio.GetObjectOptions{})
	if err != nil {
		return nil, b.failed(err)
	}
	defer o.Close()
	data, err := io.ReadAll(o)
	if err != nil {
		return nil, b.failed(err)
	}
	return data, nil
}

// holds reports whether there is an object.
func (b *bucket) holds(sub string, k Key) (bool, error) {
	ctx, stop := context.WithTimeout(context.Background(), bucketPatience)
	defer stop()
	_, err := b.client.StatObject(ctx, b.name, b.object(sub, k), minio.StatObjectOptions{})
	if err == nil {
		return true, nil
	}
	if err = b.failed(err); errors.Is(err, ErrMissing) {
		return false, nil
	}
	return false, err
}

// put writes an object unless there is one; alone says that there was none.
func (b *bucket) put(sub string, k Key, data []byte) (alone bool, err error) {
	ctx, stop := context.WithTimeout(context.Background(), bucketPatience)
	defer stop()
	const atOnce = 5 << 30 // bytes that S3 takes in one request
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: int64(len(data)) < atOnce}
	o.SetMatchETagExcept("*")
	_, err = b.client.PutObject(ctx, b.name, b.object(sub, k), bytes.NewReader(data), int64(len(data)), o)
	switch minio.ToErrorResponse(err).Code {
	case minio.PreconditionFailed, "ConditionalRequestConflict":
		return false, nil
	}
	if err != nil {
		return false, b.failed(err)
	}
	return true, nil
}

// remove removes an object, so that it can be put again.
func (b *bucket) remove(sub string, k Key) {
	ctx, stop := context.WithTimeout(context.Background(), bucketPatience)
	defer stop()
	b.client.RemoveObject(ctx, b.name, b.object(sub, k), minio.RemoveObjectOptions{}) // what cannot be removed is found damaged again
}

// list lists the keys of the objects in a folder of the store.
func (b *bucket) list(sub string) (keys []Key, err error) {
	ctx, stop := context.WithTimeout(context.Background(), bucketPatience)
	defer stop()
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: path.Join(b.prefix, sub) + "/", Recursive: true}) {
		if o.Err != nil {
			return nil, b.failed(o.Err)
		}
		if k, err := ParseKey(path.Base(o.Key)); err == nil {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

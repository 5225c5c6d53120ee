package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"

	graphqlclient "github.com/Khan/genqlient/graphql"
	"github.com/google/uuid"

	"example.com/newsroom/graphql"
	"example.com/newsroom/rest"
)

// authorized sends a token with every request, and the cursor of the last write with every read.
type authorized struct{ token, seen string }

func (session *authorized) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+session.token)
	if session.seen != "" {
		request.Header.Set("Consistency-Token", session.seen)
	}
	return http.DefaultTransport.RoundTrip(request)
}

func main() {
	ctx, url := context.Background(), os.Getenv("ANNALS_URL")
	session := &authorized{token: os.Getenv("TOKEN")}
	caller := &http.Client{Transport: session}
	annals, err := rest.NewClientWithResponses(url, rest.WithHTTPClient(caller))
	if err != nil {
		log.Fatal(err)
	}

	key, publish, limit := uuid.NewString(), true, 10
	draft := rest.NewArticle{Title: "From Go", Publish: &publish}
	made, err := annals.CreateArticleWithResponse(ctx, &rest.CreateArticleParams{IdempotencyKey: &key}, draft)
	if err != nil {
		log.Fatal(err)
	}
	if made.ApplicationproblemJSON422 != nil {
		log.Fatal(made.ApplicationproblemJSON422.Code)
	}
	if made.JSON201 == nil {
		log.Fatal(string(made.Body))
	}
	written, err := made.JSON201.AsWritten()
	if err != nil {
		log.Fatal(err)
	}

	session.seen = made.HTTPResponse.Header.Get("Consistency-Token")
	article, err := annals.GetArticleWithResponse(ctx, *written.Id, nil)
	if err != nil {
		log.Fatal(err)
	}
	if article.JSON200 == nil {
		log.Fatal(string(article.Body))
	}
	fmt.Printf("Read: %s\n", article.JSON200.Title)

	listed, err := annals.ListArticlesWithResponse(ctx, &rest.ListArticlesParams{Limit: &limit})
	if err != nil {
		log.Fatal(err)
	}
	if listed.JSON200 == nil {
		log.Fatal(string(listed.Body))
	}
	for _, article := range *listed.JSON200 {
		fmt.Printf("REST: %s, by %s\n", article.Title, article.Author.Name)
	}

	latest, err := graphql.Latest(ctx, graphqlclient.NewClient(url+"/graphql", caller), limit)
	if err != nil {
		log.Fatal(err)
	}
	for _, post := range latest.Posts {
		fmt.Printf("GraphQL: %s, by %s\n", post.Title, post.Author.Name)
	}
}

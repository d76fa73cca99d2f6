// Publishes with the client that openapi-generator generated for Go.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"example.com/handbill"
)

func main() {
	configuration := handbill.NewConfiguration()
	configuration.Servers = handbill.ServerConfigurations{{URL: os.Getenv("HANDBILL_TEST_BASE_URL")}}
	client := handbill.NewAPIClient(configuration)
	caller := context.WithValue(context.Background(), handbill.ContextAccessToken, os.Getenv("HANDBILL_TEST_TOKEN"))
	slug, html := "by-go", "<h1>By Go</h1>"
	site := handbill.SiteInJson{Slug: *handbill.NewNullableString(&slug), Html: &html}
	published, _, err := client.ArtifactsAPI.Publish(caller).SiteInJson(site).Execute()
	if err != nil {
		log.Fatal(err)
	}
	listed, _, err := client.ArtifactsAPI.ListArtifacts(caller).Execute()
	if err != nil || len(listed) == 0 {
		log.Fatal(listed, err)
	}
	fmt.Println("published", published.Url)
}

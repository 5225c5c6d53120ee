import annals.graphql.client.PostsGraphQLQuery;
import annals.graphql.client.PostsProjectionRoot;
import annals.graphql.types.Post;
import annals.rest.ApiClient;
import annals.rest.ApiException;
import annals.rest.ArticlesApi;
import annals.rest.ArticlesApi.APICreateArticleRequest;
import annals.rest.ArticlesApi.APIGetArticleRequest;
import annals.rest.ArticlesApi.APIListArticlesRequest;
import annals.rest.model.NewArticle;
import annals.rest.model.Problem;
import com.netflix.graphql.dgs.client.codegen.GraphQLQueryRequest;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import java.util.UUID;

public class Newsroom {
  public static void main(String[] arguments) throws Exception {
    var url = System.getenv("ANNALS_URL");
    var authorization = "Bearer " + System.getenv("TOKEN");
    var client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("Authorization", authorization));

    var articles = new ArticlesApi(client);
    var draft = new NewArticle().title("From Java").body("").publish(true);
    var made = articles.createArticleWithHttpInfo(
        APICreateArticleRequest.newBuilder().newArticle(draft).idempotencyKey(UUID.randomUUID().toString()).build());
    var seen = made.getHeaders().get("consistency-token").get(0);
    var id = made.getData().getArticle().getId();
    var article = articles.getArticle(
        APIGetArticleRequest.newBuilder().articleId(id).consistencyToken(seen).build());
    System.out.printf("Read: %s%n", article.getTitle());
    for (var each : articles.listArticles(
        APIListArticlesRequest.newBuilder().limit(10).consistencyToken(seen).build()))
      System.out.printf("REST: %s, by %s%n", each.getTitle(), each.getAuthor().getName());

    try {
      articles.getArticle(APIGetArticleRequest.newBuilder().articleId(999_999L).build());
    } catch (ApiException refused) {
      var problem = client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
      System.out.printf("Refused: %s%n", problem.getCode().getValue());
    }

    var query = new GraphQLQueryRequest(
        PostsGraphQLQuery.newRequest().limit(10).build(),
        new PostsProjectionRoot<>().title().author().name());
    var mapper = client.getObjectMapper();
    var request = HttpRequest.newBuilder(URI.create(url + "/graphql"))
        .header("Authorization", authorization)
        .header("Consistency-Token", seen)
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(mapper.writeValueAsString(Map.of("query", query.serialize()))))
        .build();
    var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    for (var post : mapper.treeToValue(mapper.readTree(answer).at("/data/posts"), Post[].class))
      System.out.printf("GraphQL: %s, by %s%n", post.getTitle(), post.getAuthor().getName());
  }
}

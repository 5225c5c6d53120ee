import os
import uuid

from annals_graphql import Client
from annals_rest import AuthenticatedClient
from annals_rest.api.articles import create_article, get_article, list_articles
from annals_rest.models import Article, NewArticle, Problem, Written

url, token = os.environ["ANNALS_URL"], os.environ["TOKEN"]
rest = AuthenticatedClient(base_url=url, token=token)
draft = NewArticle(title="From Python", body="", publish=True)
made = create_article.sync_detailed(client=rest, body=draft, idempotency_key=str(uuid.uuid4()))
if isinstance(made.parsed, Problem):
    raise SystemExit(made.parsed.code)
if not isinstance(made.parsed, Written):
    raise SystemExit(made.content.decode())

seen = made.headers["Consistency-Token"]
article = get_article.sync(made.parsed.id, client=rest, consistency_token=seen)
if not isinstance(article, Article):
    raise SystemExit(article.code if isinstance(article, Problem) else "no article")
print(f"Read: {article.title}")

articles = list_articles.sync(client=rest, consistency_token=seen, limit=10)
if isinstance(articles, list):
    for each in articles:
        print(f"REST: {each.title}, by {each.author.name}")

graphql = Client(url=f"{url}/graphql", headers={"Authorization": f"Bearer {token}", "Consistency-Token": seen})
for post in graphql.latest(limit=10).posts:
    print(f"GraphQL: {post.title}, by {post.author.name}")

/** What the reads of aggregates are asked for that are still written by hand; their operations follow from the domain. */
type Page = {
  readonly limit?: number | undefined;
  readonly after?: string | undefined;
  readonly before?: string | undefined;
};
type List = Page & { readonly at?: string | undefined };
type ArticleList = List & {
  readonly status?: 'draft' | 'published' | undefined;
  readonly tag?: string | undefined;
  readonly q?: string | undefined;
  readonly sort?: '-createdAt' | 'createdAt' | '-publishedAt' | 'publishedAt' | undefined;
};
type Item = { readonly at?: string | undefined };
export type AskedOfDomain = {
  readonly listArticles: ArticleList & { readonly author?: number | undefined };
  readonly listArticlesOfUser: ArticleList;
  readonly getArticle: Item;
  readonly listArticleHistory: Page;
  readonly listComments: List & { readonly sort?: 'createdAt' | '-createdAt' | undefined };
  readonly getComment: Item;
  readonly listCommentHistory: Page;
};

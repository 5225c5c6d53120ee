type Links = Readonly<Record<string, { readonly href: string; readonly method?: string }>>;

/** The representations of publishing that tests read over REST. */
export type Article = {
  readonly id: number;
  readonly title: string;
  readonly body: string;
  readonly tags: readonly string[];
  readonly status: 'draft' | 'published';
  readonly author: { readonly id: number; readonly name: string };
  readonly cover: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly publishedAt: string | null;
  readonly _links: Links;
};

export type Comment = {
  readonly id: number;
  readonly articleId: number;
  readonly author: { readonly id: number; readonly name: string };
  readonly text: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly _links: Links;
};

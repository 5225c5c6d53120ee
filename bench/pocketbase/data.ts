import pg from 'pg';
import { type PocketBase, signIn } from './server.ts';

// The same articles and users as ours has, with the same rights: everybody reads published articles and their
// comments, authors also read their drafts, and write in their own name.

const IS_AUTHOR = 'author = @request.auth.id';
const MAY_WRITE = `@request.auth.id != "" && ${IS_AUTHOR}`;
const WARNING = 4;
const PASSWORD = 'an analytical engine';
/** The least that bcrypt can: passwords are not measured. */
const PASSWORD_COST = 4;
const BATCH = 500;

/** Its ids have 15 characters. */
export const idOf = (id: number): string => String(id).padStart(15, '0');
const emailOf = (id: number): string => `user-${id}@example.com`;

export const tokenOfUser = (server: PocketBase, id: number): Promise<string> =>
  signIn(server, emailOf(id), PASSWORD);

/** Copies what the read model has; comments start empty. */
export const copyFrom = async (databaseUrl: string, server: PocketBase): Promise<void> => {
  await server.ask('PATCH', '/api/settings', {
    batch: { enabled: true, maxRequests: BATCH, timeout: 60 },
    // Ours logs warnings as well, and no request.
    logs: { minLevel: WARNING },
  });
  await createCollections(server);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const users = await client.query('select id, name from read_model.users order by id');
    await createAll(server, 'users', users.rows.map(userOf));
    const articles = await client.query(
      'select id, author_id, title, body, tags, status, cover, published_at from read_model.articles order by id',
    );
    await createAll(server, 'articles', articles.rows.map(articleOf));
  } finally {
    await client.end();
  }
};

const userOf = ({ id, name }: pg.QueryResultRow) => ({
  id: idOf(id),
  name,
  email: emailOf(id),
  password: PASSWORD,
  passwordConfirm: PASSWORD,
});

const articleOf = ({ id, author_id, published_at, ...fields }: pg.QueryResultRow) => ({
  ...fields,
  id: idOf(id),
  author: idOf(author_id),
  publishedAt: published_at,
});

type Collection = { readonly id: string; readonly fields: readonly { readonly name: string }[] };

const createCollections = async (server: PocketBase): Promise<void> => {
  const users = await server.ask<Collection>('GET', '/api/collections/users');
  await server.ask('PATCH', '/api/collections/users', {
    viewRule: '',
    fields: users.fields.map((field) =>
      field.name === 'password' ? { ...field, cost: PASSWORD_COST } : field,
    ),
  });
  const author = { name: 'author', type: 'relation', collectionId: users.id, maxSelect: 1, required: true };
  const times = [
    { name: 'createdAt', type: 'autodate', onCreate: true },
    { name: 'updatedAt', type: 'autodate', onCreate: true, onUpdate: true },
  ];
  const visible = `status = "published" || ${IS_AUTHOR}`;
  const articles = await server.ask<Collection>('POST', '/api/collections', {
    name: 'articles',
    type: 'base',
    listRule: visible,
    viewRule: visible,
    createRule: MAY_WRITE,
    fields: [
      author,
      { name: 'title', type: 'text', required: true, max: 200 },
      { name: 'body', type: 'text', max: 100_000 },
      { name: 'tags', type: 'json' },
      { name: 'status', type: 'select', values: ['draft', 'published'], maxSelect: 1 },
      { name: 'cover', type: 'text' },
      { name: 'publishedAt', type: 'date' },
      ...times,
    ],
    // By which the list is sorted.
    indexes: ['create index articles_newest on articles (createdAt, id)'],
  });
  const ofArticle = 'article.status = "published"';
  await server.ask('POST', '/api/collections', {
    name: 'comments',
    type: 'base',
    listRule: ofArticle,
    viewRule: ofArticle,
    createRule: MAY_WRITE,
    fields: [
      author,
      { name: 'article', type: 'relation', collectionId: articles.id, maxSelect: 1, required: true },
      { name: 'text', type: 'text', required: true, max: 5_000 },
      ...times,
    ],
    indexes: ['create index comments_of_article on comments (article)'],
  });
};

const createAll = async (
  server: PocketBase,
  collection: string,
  records: readonly object[],
): Promise<void> => {
  for (let start = 0; start < records.length; start += BATCH)
    await server.ask('POST', '/api/batch', {
      requests: records
        .slice(start, start + BATCH)
        .map((body) => ({ method: 'POST', url: `/api/collections/${collection}/records`, body })),
    });
};

/** The measured queries: the same document and variables for every contender. */
export const NESTED =
  '{ users(limit: 10) { id name posts(limit: 5) { id title comments(limit: 3) { id text author { id name } } } } }';
export const POINT = 'query ($id: ID!) { user(id: $id) { id name } }';
export const LIST = '{ posts(limit: 20) { id title tags createdAt author { id name } } }';

/** PostGraphile derives its own schema; these documents give the same answers. */
export const FOR_POSTGRAPHILE: ReadonlyMap<string, string> = new Map([
  [
    NESTED,
    `{ users: allUsersList(first: 10, condition: { deletedAt: null }, orderBy: [CREATED_AT_DESC, PRIMARY_KEY_DESC]) { id: rowId name
      posts: articlesByAuthorIdList(first: 5, condition: { status: "published" }, orderBy: [CREATED_AT_DESC, PRIMARY_KEY_DESC]) { id: rowId title
        comments: commentsByArticleIdList(first: 3, orderBy: [CREATED_AT_ASC, PRIMARY_KEY_ASC]) { id: rowId text
          author: userByAuthorId { id: rowId name } } } } }`,
  ],
  [POINT, 'query ($id: BigInt!) { user: userByRowId(rowId: $id) { id: rowId name } }'],
  [
    LIST,
    `{ posts: allArticlesList(first: 20, condition: { status: "published" }, orderBy: [CREATED_AT_DESC, PRIMARY_KEY_DESC]) {
      id: rowId title tags createdAt author: userByAuthorId { id: rowId name } } }`,
  ],
]);

/** Declares the relations of the tables to PostGraphile. */
export const TAGS_FOR_POSTGRAPHILE = `
  comment on table read_model.articles is E'@foreignKey (author_id) references read_model.users (id)';
  comment on table read_model.comments is E'@foreignKey (article_id) references read_model.articles (id)\\n@foreignKey (author_id) references read_model.users (id)'`;

/** What is measured: the same document and variables for every contender. */
export const NESTED = '{ users(limit: 10) { id name posts(limit: 5) { id title comments(limit: 3) { id text author { id name } } } } }';
export const POINT = 'query ($id: ID!) { user(id: $id) { id name } }';
export const LIST = '{ posts(limit: 20) { id title tags createdAt author { id name } } }';

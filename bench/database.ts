import pg from 'pg';
import { statOf } from './turns.ts';

const connect = async (url: string): Promise<pg.Client & AsyncDisposable> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
};

export const execute = async (url: string, ...statements: readonly string[]): Promise<void> => {
  await using client = await connect(url);
  for (const statement of statements) await client.query(statement);
};

/** Creates a database, empty or as a copy of another, and returns its URL. */
export const createDatabase = async (serverUrl: string, name: string, template?: string): Promise<string> => {
  await execute(serverUrl, `create database ${name}${template === undefined ? '' : ` template ${template}`}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
};

/** The first process of the server: the parent of any of its backends. */
export const postmasterOf = async (url: string): Promise<number> => {
  await using client = await connect(url);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return (await statOf(rows[0]?.pid)).parentPid;
};

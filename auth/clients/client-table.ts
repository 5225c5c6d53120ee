import { Rejection } from '#kernel/base/rejection.ts';
import { token } from '#kernel/base/values.ts';
import type { ClientSettings } from '#shared/clients/settings.ts';
import { isUniqueViolation } from '#shared/database/failures.ts';
import { migrate } from '#shared/database/migrate.ts';
import type { Pool } from '#shared/database/pool.ts';
import {
  type GrantingTable,
  type Proven,
  provenColumns,
  type RowProofs,
} from '#shared/row-proofs/row-proofs.ts';
import type { StoredClient } from '../storage/client.ts';

export type Queryable = Pick<Pool, 'query'>;

export const migrateClients = (pool: Pool): Promise<void> =>
  migrate(pool, 'auth-clients', new URL('./migrations/', import.meta.url));

type FoundClient = StoredClient & Partial<Proven>;

type Row = { readonly [Field in keyof FoundClient]: NonNullable<FoundClient[Field]> | null };

/** The columns that say what a client may do, and as whom. */
type GrantingClient = Omit<StoredClient, 'version' | 'createdAt' | 'updatedAt' | 'localOrigin'>;

export const CLIENTS: GrantingTable<GrantingClient> = {
  name: 'auth.client',
  key: 'clientId',
  keyType: 'text',
  columns: {
    clientId: 'client_id',
    name: 'name',
    secretHash: 'secret_hash',
    tokenEndpointAuthMethod: 'token_endpoint_auth_method',
    grantTypes: 'grant_types',
    redirectUris: 'redirect_uris',
    postLogoutRedirectUris: 'post_logout_redirect_uris',
    scopes: 'scopes',
    defaultScopes: 'default_scopes',
    firstParty: 'first_party',
    serviceAccount: 'service_account',
    requireDpop: 'require_dpop',
    requirePar: 'require_par',
    tlsClientAuthSubject: 'tls_client_auth_subject',
    jwks: 'jwks',
    disabled: 'disabled',
    selfRegistered: 'self_registered',
  },
};

const COLUMNS = `${provenColumns(CLIENTS)}, version, created_at as "createdAt", updated_at as "updatedAt"`;

/** A null column is an absent field of a client. */
const clientOf = (row: Row | undefined): FoundClient | undefined =>
  row && (Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as FoundClient);

export const isProven = async (
  rowProofs: Pick<RowProofs, 'check'>,
  client: FoundClient | undefined,
): Promise<boolean> =>
  client !== undefined && (await rowProofs.check(CLIENTS, { ...client, proof: client.proof ?? null }));

/** Callers may send any text. PostgreSQL refuses some of it, such as NUL, and no client has such an id. */
export const canBeId = (text: string): boolean => token.safeParse(text).success;

/** Its caller decides whether the row must be proven. */
export const selectClient = async (
  database: Queryable,
  clientId: string,
): Promise<FoundClient | undefined> => {
  if (!canBeId(clientId)) return undefined;
  const { rows } = await database.query<Row>(`select ${COLUMNS} from auth.client where client_id = $1`, [
    clientId,
  ]);
  return clientOf(rows[0]);
};

/** Locks the row until the transaction ends. */
export const selectClientForUpdate = async (
  database: Queryable,
  clientId: string,
): Promise<FoundClient | undefined> => {
  if (!canBeId(clientId)) return undefined;
  const { rows } = await database.query<Row>(
    `select ${COLUMNS} from auth.client where client_id = $1 for update`,
    [clientId],
  );
  return clientOf(rows[0]);
};

export const selectClients = async (
  database: Queryable,
  after: string,
  limit: number,
): Promise<readonly StoredClient[]> => {
  const { rows } = await database.query<Row>(
    `select ${COLUMNS} from auth.client where client_id collate "C" > $1 order by client_id collate "C" limit $2`,
    [after, limit],
  );
  return rows.flatMap((row) => clientOf(row) ?? []);
};

type NewRow = ClientSettings &
  Pick<StoredClient, 'clientId' | 'secretHash' | 'serviceAccount' | 'selfRegistered'>;

type Writing = { readonly database: Queryable; readonly rowProofs: Pick<RowProofs, 'of'> };

export const insertClient = async (
  { database, rowProofs }: Writing,
  client: NewRow,
): Promise<StoredClient> => {
  const inserted = await database
    .query<Row>(
      `insert into auth.client (client_id, self_registered, version, secret_hash, service_account, name, token_endpoint_auth_method,
         grant_types, redirect_uris, post_logout_redirect_uris, scopes, default_scopes, first_party, require_dpop, require_par,
         tls_client_auth_subject, jwks, disabled, proof)
       values ($1, $2, 1, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18) returning ${COLUMNS}`,
      [
        client.clientId,
        client.selfRegistered,
        client.secretHash ?? null,
        client.serviceAccount ?? null,
        ...settingsValues(client),
        proofOf(rowProofs, client),
      ],
    )
    .catch(refuseTaken);
  return theOne(clientOf(inserted.rows[0]));
};

export const updateClient = async (
  { database, rowProofs }: Writing,
  client: NewRow,
): Promise<StoredClient> => {
  const { rows } = await database.query<Row>(
    `update auth.client set version = version + 1, updated_at = now(), secret_hash = $2, service_account = $3, name = $4,
       token_endpoint_auth_method = $5, grant_types = $6, redirect_uris = $7, post_logout_redirect_uris = $8, scopes = $9,
       default_scopes = $10, first_party = $11, require_dpop = $12, require_par = $13, tls_client_auth_subject = $14, jwks = $15,
       disabled = $16, proof = $17
     where client_id = $1 returning ${COLUMNS}`,
    [
      client.clientId,
      client.secretHash ?? null,
      client.serviceAccount ?? null,
      ...settingsValues(client),
      proofOf(rowProofs, client),
    ],
  );
  return theOne(clientOf(rows[0]));
};

export const deleteClient = async (database: Queryable, clientId: string): Promise<void> => {
  await database.query(
    'with use as (delete from auth.client_use where client_id = $1) delete from auth.client where client_id = $1',
    [clientId],
  );
};

const proofOf = (rowProofs: Writing['rowProofs'], client: NewRow): Buffer =>
  rowProofs.of(CLIENTS, {
    ...client,
    tlsClientAuthSubject: client.tlsClientAuthSubject ?? undefined,
    jwks: client.jwks ?? undefined,
  });

const settingsValues = (settings: ClientSettings): unknown[] => [
  settings.name,
  settings.tokenEndpointAuthMethod,
  settings.grantTypes,
  settings.redirectUris,
  settings.postLogoutRedirectUris,
  settings.scopes,
  settings.defaultScopes,
  settings.firstParty,
  settings.requireDpop,
  settings.requirePar,
  settings.tlsClientAuthSubject,
  settings.jwks && JSON.stringify(settings.jwks),
  settings.disabled,
];

const refuseTaken = (error: unknown): never => {
  if (isUniqueViolation(error)) throw new Rejection('client_id_taken', {}, { cause: error });
  throw error;
};

const theOne = (client: StoredClient | undefined): StoredClient => {
  if (client === undefined) throw new Error('the client was removed during the request');
  return client;
};

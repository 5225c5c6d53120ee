import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createServer } from '#edge/http/node-http.ts';

const run = promisify(execFile);

/** An authority for time stamps (RFC 3161): `openssl ts -reply` behind HTTP on the loopback address. */
export type TestAuthority = AsyncDisposable & {
  readonly url: string;
  /** The certificate of the authority that has certified it, in PEM. */
  readonly ca: string;
  /** The certificates between it and the authority for time stamps. */
  readonly between: string;
  /** Answers instead of `openssl`, until it is undefined again. */
  lie: ((query: Buffer) => Promise<{ readonly status?: number; readonly body?: Buffer }>) | undefined;
  stamp(query: Buffer): Promise<Buffer>;
  readonly asked: () => number;
};

const CONFIG = (folder: string, key: string) => `
[ tsa ]
default_tsa = ours
[ ours ]
serial = ${folder}/serial
signer_cert = ${folder}/${key}.pem
signer_key = ${folder}/${key}.key
certs = ${folder}/certs.pem
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_chain = no
ess_cert_id_alg = sha256
`;

type Options = {
  readonly usage?: string;
  readonly algorithm?: string;
  /** From the root on, each as in `Test CA,pathlen:0`. */
  readonly authorities?: readonly string[];
};

export const startTestAuthority = async (
  folder: string,
  { usage = 'critical,timeStamping', algorithm = 'rsa:2048', authorities = ['Test CA'] }: Options = {},
): Promise<TestAuthority> => {
  const at = (file: string) => join(folder, file);
  const openssl = (...args: readonly string[]) => run('openssl', [...args], { encoding: 'buffer' });
  const curve = algorithm === 'ec' ? ['-pkeyopt', 'ec_paramgen_curve:prime256v1'] : [];
  const key = (name: string) => ['-newkey', algorithm, ...curve, '-nodes', '-keyout', at(`${name}.key`)];
  const certify = (name: string, subject: string, by: string | undefined, extensions: readonly string[]) =>
    openssl(
      ...['req', '-x509', ...key(name), '-subj', `/CN=${subject}`, '-days', '2', '-out', at(`${name}.pem`)],
      ...(by === undefined ? [] : ['-CA', at(`${by}.pem`), '-CAkey', at(`${by}.key`)]),
      ...extensions.flatMap((each) => ['-addext', each]),
    );
  const names = authorities.map((_, index) => (index === 0 ? 'ca' : `ca${index}`));
  for (const [index, authority] of authorities.entries()) {
    const [subject = '', ...limits] = authority.split(',');
    const extension = ['critical', 'CA:TRUE', ...limits].join(',');
    await certify(names[index] ?? '', subject, names[index - 1], [`basicConstraints=${extension}`]);
  }
  await certify('tsa', 'Test TSA', names.at(-1), [
    'basicConstraints=critical,CA:FALSE',
    `extendedKeyUsage=${usage}`,
  ]);
  const certificates = await Promise.all(names.map((name) => readFile(at(`${name}.pem`), 'utf8')));
  await writeFile(at('certs.pem'), certificates.join(''));
  await writeFile(at('serial'), '01\n');
  await writeFile(at('tsa.cnf'), CONFIG(folder, 'tsa'));
  const stamp = async (query: Buffer): Promise<Buffer> => {
    const [asked, answer] = [at(`${randomUUID()}.tsq`), at(`${randomUUID()}.tsr`)];
    await writeFile(asked, query);
    await openssl('ts', '-reply', '-config', at('tsa.cnf'), '-queryfile', asked, '-out', answer);
    return readFile(answer);
  };
  type Told = { readonly status?: number; readonly body?: Buffer };
  const honest = async (query: Buffer): Promise<Told> => ({ body: await stamp(query) });
  let [count, lie] = [0, undefined as TestAuthority['lie']];
  const server = createServer(async (request, response) => {
    count += 1;
    const query = Buffer.concat(await Array.fromAsync(request));
    const { status = 200, body = Buffer.alloc(0) } = await (lie ?? honest)(query);
    response.writeHead(status, { 'content-type': 'application/timestamp-reply' }).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`,
    ca: certificates[0] ?? '',
    between: certificates.slice(1).join(''),
    stamp,
    get lie() {
      return lie;
    },
    set lie(told) {
      lie = told;
    },
    asked: () => count,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

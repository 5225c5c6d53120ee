import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { exportJWK, importX509, type JWK } from 'jose';

/** A self-signed certificate with its key. */
export type TestCertificate = {
  readonly certificate: string;
  readonly key: string;
  readonly thumbprint: string;
  readonly jwk: JWK;
};

export const createCertificate = async (commonName: string): Promise<TestCertificate> => {
  const folder = await mkdtemp(join(tmpdir(), 'annals-certificate-'));
  try {
    const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const names = [
      '-subj',
      `/CN=${commonName}`,
      '-addext',
      'subjectAltName=DNS:localhost,IP:127.0.0.1',
      '-days',
      '2',
    ];
    await promisify(execFile)('openssl', [
      'req',
      '-x509',
      ...curve,
      '-keyout',
      keyFile,
      '-out',
      file,
      ...names,
    ]);
    const [key, certificate] = [await readFile(keyFile, 'utf8'), await readFile(file, 'utf8')];
    const { raw } = new X509Certificate(certificate);
    const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(raw));
    const jwk = await exportJWK(await importX509(certificate, 'ES256', { extractable: true }));
    return {
      certificate,
      key,
      thumbprint: Buffer.from(digest).toString('base64url'),
      jwk: { ...jwk, x5c: [raw.toString('base64')] },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

import { readFile } from 'node:fs/promises';
import type { SecureContextOptions, TlsOptions } from 'node:tls';
import { createSecureContext } from 'node:tls';
import type { TlsFiles } from '#shared/config.ts';
import { StartRefused } from '#shared/start-refused.ts';

/**
 * What a server needs to speak TLS itself. With authorities for clients it asks each for a certificate, and takes any or none:
 * whether it is one that counts is for whoever needs it (RFC 8705).
 */
export const readTls = async ({ certFile, keyFile, clientCaFile }: TlsFiles): Promise<TlsOptions> => {
  const options: SecureContextOptions = {
    cert: await read('TLS_CERT', certFile),
    key: await read('TLS_KEY', keyFile),
    ...(clientCaFile !== undefined && { ca: await read('TLS_CLIENT_CA', clientCaFile) }),
    minVersion: 'TLSv1.2',
  };
  try {
    createSecureContext(options);
  } catch (cause) {
    throw new StartRefused(`TLS_CERT and TLS_KEY do not go together, or are no PEM files: ${(cause as Error).message}.`, { cause });
  }
  return { ...options, ...(clientCaFile !== undefined && { requestCert: true, rejectUnauthorized: false }) };
};

const read = async (setting: string, file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new StartRefused(`${setting} is ${file}, which cannot be read: give the path of a PEM file that this user may read.`, { cause });
  }
};

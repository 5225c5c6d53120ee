import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions, type TlsOptions } from 'node:tls';
import { StartRefused } from '#kernel/base/start-refused.ts';

export type TlsFiles = {
  readonly certFile: string;
  readonly keyFile: string;
  readonly clientCaFile: string | undefined;
};

/**
 * The TLS options of the server. With authorities for clients it asks each client for a certificate, and
 * accepts any or none: routes that need one check it (RFC 8705).
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
    throw new StartRefused(
      `TLS_CERT and TLS_KEY do not match, or are not PEM files: ${(cause as Error).message}.`,
      { cause },
    );
  }
  return { ...options, ...(clientCaFile !== undefined && { requestCert: true, rejectUnauthorized: false }) };
};

const read = async (setting: string, file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new StartRefused(
      `${setting} is ${file}, which cannot be read: give the path of a PEM file that this user may read.`,
      { cause },
    );
  }
};

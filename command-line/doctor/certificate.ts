import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:tls';
import type { TlsFiles } from '#edge/http/tls-files.ts';
import { fileFailure } from '#shared/folder.ts';
import { plural } from '#shared/format.ts';
import { type Diagnosis, type Examined, fail, ok, warn } from './diagnosis.ts';

const TIMEOUT_MS = 5_000;
const DAY_MS = 86_400_000;
const WARN_DAYS = 21;
const FAIL_DAYS = 3;
const HTTPS_PORT = 443;

/** Checks the files of TLS_CERT and TLS_KEY, and the certificate that clients get at PUBLIC_URL. */
export const certificate = async (examined: Examined): Promise<readonly Diagnosis[]> => {
  const { tls, publicUrl } = examined.config;
  const found = [
    ...(tls === undefined ? [] : [await ofFiles(tls)]),
    ...(publicUrl.startsWith('https:') ? [await ofPublicUrl(examined)] : []),
  ];
  return found.length > 0 ? found : [ok('There is no certificate to check: PUBLIC_URL is http.')];
};

const ofFiles = async ({ certFile, keyFile }: TlsFiles): Promise<Diagnosis> => {
  try {
    const certificate = new X509Certificate(await readFile(certFile));
    if (!certificate.checkPrivateKey(createPrivateKey(await readFile(keyFile))))
      return fail(
        'TLS_KEY is not the key of the certificate of TLS_CERT.',
        'set both to files of the same certificate.',
      );
    return expiring('TLS_CERT', certificate.validTo);
  } catch (error) {
    return fail(
      `TLS_CERT or TLS_KEY cannot be used: ${fileFailure(error) ?? (error as Error).message}`,
      'set them to a certificate and its key, as PEM files.',
    );
  }
};

const ofPublicUrl = async ({ config, signal }: Examined): Promise<Diagnosis> => {
  const { hostname, port } = new URL(config.publicUrl);
  const socket = connect({
    host: hostname,
    port: Number(port || HTTPS_PORT),
    servername: hostname,
    rejectUnauthorized: false,
  });
  try {
    await once(socket, 'secureConnect', {
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const expires = expiring(hostname, socket.getPeerCertificate().valid_to);
    if (expires.outcome === 'fail' || !socket.authorizationError) return expires;
    return warn(
      `The certificate of ${hostname} is not trusted here (${socket.authorizationError}).`,
      'use a certificate from an authority that clients trust, or add yours with NODE_EXTRA_CA_CERTS.',
    );
  } catch {
    return warn(
      `No TLS connection to ${hostname} can be made.`,
      'start Annals or its proxy, and run the check again.',
    );
  } finally {
    socket.on('error', () => {}).destroy();
  }
};

const expiring = (whose: string, validTo: string): Diagnosis => {
  const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY_MS);
  if (days < 0)
    return fail(
      `The certificate of ${whose} has expired.`,
      'renew it now, and check why it was not renewed automatically.',
    );
  const says = `The certificate of ${whose} expires in ${plural(days, 'day')}.`;
  if (days < FAIL_DAYS) return fail(says, 'renew it now, and check why it is not renewed automatically.');
  return days < WARN_DAYS ? warn(says, 'renew it.') : ok(says);
};

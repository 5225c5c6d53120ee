import { notAtTheMoment } from '../installation/not-at-the-moment.ts';
import { type Diagnosis, type Examined, fail, ok, warn } from './diagnosis.ts';

const TIMEOUT_MS = 5_000;

/** Checks whether clients reach Annals by the address in tokens and links. */
export const publicUrl = async ({ config, signal }: Examined): Promise<readonly Diagnosis[]> => {
  const { publicUrl: url, issuerUrl } = config;
  const root = await fetchJson<{ readonly name?: string; readonly version?: string }>(`${url}/`, signal);
  if ('problem' in root)
    return [
      warn(
        `Nothing answers at PUBLIC_URL, ${url} (${root.problem}).`,
        'start Annals; if it is running, fix the host name, the proxy or PUBLIC_URL.',
      ),
    ];
  const away = notAtTheMoment(url, root.status);
  if (root.body?.name !== 'annals' && away !== undefined)
    return [warn(away, 'if that does not help, see the logs of Annals and of the proxy.')];
  if (root.body?.name !== 'annals')
    return [
      fail(
        `The server at PUBLIC_URL, ${url}, is not Annals (status ${root.status}).`,
        'set PUBLIC_URL to the address that clients use.',
      ),
    ];
  const answers = ok(`Annals ${root.body.version} answers at PUBLIC_URL, ${url}.`);
  const metadata = await fetchJson<{ readonly issuer?: string }>(
    `${url}/.well-known/openid-configuration`,
    signal,
  );
  const issuer = 'problem' in metadata ? undefined : metadata.body?.issuer;
  if (issuer === issuerUrl) return [answers];
  return [
    answers,
    issuer === undefined
      ? fail(
          `The authorization server does not answer at ${url}.`,
          'start a process of the role auth, and make sure that the proxy forwards to it.',
        )
      : fail(
          `The authorization server there has the issuer ${issuer}, but the settings here say ${issuerUrl}.`,
          'give all processes the same PUBLIC_URL and ISSUER_URL, and restart them.',
        ),
  ];
};

type Fetched<T> = { readonly status: number; readonly body: T | undefined } | { readonly problem: string };

const fetchJson = async <T>(url: string, signal: AbortSignal): Promise<Fetched<T>> => {
  try {
    const response = await fetch(url, {
      headers: { accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    return { status: response.status, body: (await response.json().catch(() => undefined)) as T | undefined };
  } catch (error) {
    const { cause, message } = error as Error;
    return { problem: cause instanceof Error && 'code' in cause ? String(cause.code) : message };
  }
};

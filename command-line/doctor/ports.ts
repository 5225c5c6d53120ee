import { demandFreePorts } from '#edge/http/listen.ts';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { readReadiness } from '../remote/roles.ts';
import { type Diagnosis, type Examined, fail, ok, refusal } from './diagnosis.ts';

type Port = {
  readonly setting: string;
  readonly port: number;
  readonly host: string | undefined;
  isOurs(url: string): Promise<boolean>;
};

/** Checks that each port is free, or in use by Annals. */
export const ports = async ({ config, signal }: Examined): Promise<readonly Diagnosis[]> => {
  const scheme = config.tls === undefined ? 'http' : 'https';
  const wanted: readonly Port[] = [
    {
      setting: 'PORT',
      ...config.http,
      isOurs: async () =>
        (await readReadiness(`${scheme}://${hostOf(config.http.host)}:${config.http.port}`, signal)) !==
        undefined,
    },
    { setting: 'METRICS_PORT', ...config.metrics, isOurs: (url) => tellsMetrics(url, signal) },
  ];
  return Promise.all(wanted.map(stateOf));
};

const stateOf = async (wanted: Port): Promise<Diagnosis> => {
  const { setting, port, host } = wanted;
  if (port === 0) return ok(`${setting} is any free port.`);
  try {
    await demandFreePorts([{ port, host, setting }]);
    return ok(`Port ${port} (${setting}) is free: nothing listens there now.`);
  } catch (error) {
    if (!(error instanceof StartRefused)) throw error;
    if (!error.message.includes('is in use')) return refusal(error.message);
    if (await wanted.isOurs(`http://${hostOf(host)}:${port}`))
      return ok(`Annals uses port ${port} (${setting}).`);
    return fail(
      `Another program uses port ${port} (${setting}).`,
      `stop that program, or set ${setting} to another port.`,
    );
  }
};

const hostOf = (host: string | undefined): string =>
  host === undefined || host === '0.0.0.0' || host === '::'
    ? '127.0.0.1'
    : host.includes(':')
      ? `[${host}]`
      : host;

const TIMEOUT_MS = 3_000;

const tellsMetrics = async (url: string, signal: AbortSignal): Promise<boolean> => {
  const response = await fetch(`${url}/metrics`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  }).catch(() => undefined);
  return ((await response?.text().catch(() => '')) ?? '').includes('annals_');
};

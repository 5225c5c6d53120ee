// Over 200 lines, because the settings of its four programs must fit each other.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import { freePort } from '#adapters/embedded-postgres/free-port.ts';
import { until } from '../../testing/until.ts';
import { createCertificate } from './certificate.ts';
import { type Program, pathOf } from './control-plane-programs.ts';
import { temporaryDataDir } from './data-dir.ts';

/**
 * The control plane of a Kubernetes cluster: etcd, the API server, the controllers and the scheduler, on free
 * ports with a certificate of their own. No kubelet: nothing runs the pods.
 */
export type ControlPlane = AsyncDisposable & {
  /** For programs that take one. */
  readonly kubeconfig: string;
  /** The answer of the API server. Throws what it says if it refuses. */
  ask(method: string, path: string, body?: object): Promise<unknown>;
};

const STARTS_MAX = 3;
const START_MS = 120_000;

export const startControlPlane = async (): Promise<ControlPlane> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnFreePorts();
    } catch (error) {
      // Another program may take a port between the question and the start.
      if (attempt === STARTS_MAX || !String(error).includes('address already in use')) throw error;
    }
  }
};

const startOnFreePorts = async (): Promise<ControlPlane> => {
  await using opening = new AsyncDisposableStack();
  const layout = await createLayout(opening.use(await temporaryDataDir()).path);
  const agent = new Agent({ connect: { ca: layout.certificate } });
  opening.defer(() => agent.destroy());
  const ask = askerOf(layout, agent);
  const start = (program: Program, settings: Settings) =>
    opening.use(startProgram(program, layout.folder, settings));
  start('etcd', settingsOfEtcd(layout));
  const server = start('kube-apiserver', settingsOfServer(layout));
  await server.until(async () => (await ask('GET', '/readyz').catch(() => undefined)) === 'ok');
  const { kubeconfig } = layout;
  start('kube-scheduler', { kubeconfig, 'leader-elect': 'false', 'secure-port': '0' });
  const controllers = start('kube-controller-manager', settingsOfControllers(layout));
  // Pods need the account that a controller makes.
  await controllers.until(() =>
    ask('GET', '/api/v1/namespaces/default/serviceaccounts/default').then(
      () => true,
      () => false,
    ),
  );
  const resources = opening.move();
  return {
    kubeconfig,
    ask,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

type Layout = {
  readonly folder: string;
  readonly kubeconfig: string;
  readonly certificate: string;
  readonly token: string;
  readonly etcd: number;
  readonly peers: number;
  readonly api: number;
};

const createLayout = async (folder: string): Promise<Layout> => {
  const { certificate, key } = await createCertificate('localhost');
  const layout: Layout = {
    folder,
    kubeconfig: join(folder, 'kubeconfig'),
    certificate,
    token: randomBytes(16).toString('hex'),
    etcd: await freePort(),
    peers: await freePort(),
    api: await freePort(),
  };
  const accounts = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const files = {
    'server.pem': certificate,
    'server.key': key,
    'accounts.key': accounts.privateKey.export({ type: 'sec1', format: 'pem' }),
    'accounts.pem': accounts.publicKey.export({ type: 'spki', format: 'pem' }),
    'tokens.csv': `${layout.token},tests,tests,system:masters\n`,
    kubeconfig: JSON.stringify(kubeconfigOf(layout)),
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
  return layout;
};

const originOf = ({ api }: Layout): string => `https://127.0.0.1:${api}`;

const kubeconfigOf = (layout: Layout) => {
  const cluster = {
    server: originOf(layout),
    'certificate-authority-data': Buffer.from(layout.certificate).toString('base64'),
  };
  return {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'tests' },
    clusters: [{ name: 'tests', cluster }],
    users: [{ name: 'tests', user: { token: layout.token } }],
    contexts: [{ name: 'tests', context: { cluster: 'tests', user: 'tests' } }],
  };
};

type Settings = Readonly<Record<string, string>>;

const settingsOfEtcd = ({ folder, etcd, peers }: Layout): Settings => ({
  name: 'tests',
  'data-dir': join(folder, 'etcd'),
  'listen-client-urls': `http://127.0.0.1:${etcd}`,
  'advertise-client-urls': `http://127.0.0.1:${etcd}`,
  'listen-peer-urls': `http://127.0.0.1:${peers}`,
  'initial-advertise-peer-urls': `http://127.0.0.1:${peers}`,
  'initial-cluster': `tests=http://127.0.0.1:${peers}`,
  'unsafe-no-fsync': 'true',
});

const settingsOfServer = ({ folder, etcd, api }: Layout): Settings => ({
  'etcd-servers': `http://127.0.0.1:${etcd}`,
  'bind-address': '127.0.0.1',
  'secure-port': String(api),
  'tls-cert-file': join(folder, 'server.pem'),
  'tls-private-key-file': join(folder, 'server.key'),
  'token-auth-file': join(folder, 'tokens.csv'),
  'authorization-mode': 'RBAC',
  'service-account-issuer': 'https://kubernetes.default.svc',
  'service-account-key-file': join(folder, 'accounts.pem'),
  'service-account-signing-key-file': join(folder, 'accounts.key'),
  'service-cluster-ip-range': '10.96.0.0/16',
  // Nobody reaches it by the cluster's own network, which there is not.
  'endpoint-reconciler-type': 'none',
});

const settingsOfControllers = ({ folder, kubeconfig }: Layout): Settings => ({
  kubeconfig,
  'leader-elect': 'false',
  'secure-port': '0',
  'service-account-private-key-file': join(folder, 'accounts.key'),
  'root-ca-file': join(folder, 'server.pem'),
  'horizontal-pod-autoscaler-sync-period': '2s',
  // No kubelet says that its machine is well.
  controllers: '*,-node-lifecycle-controller',
});

const askerOf =
  (layout: Layout, dispatcher: Agent): ControlPlane['ask'] =>
  async (method, path, body) => {
    const response = await fetch(`${originOf(layout)}${path}`, {
      method,
      dispatcher,
      headers: {
        authorization: `Bearer ${layout.token}`,
        'content-type': method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text;
  };

/** The shell reads from this process until that ends, however it ends, and then takes the program with it. */
const KEEPER =
  '"$@" < /dev/null > "$LOG" 2>&1 & program=$!; read -r _; kill -KILL "$program"; wait "$program"';
/** The last lines of one that cannot go on. */
const GIVES_UP = /"command failed"|"level":"(?:fatal|panic)"|^F\d{4} /m;

type Running = AsyncDisposable & {
  /** Waits for it; throws what the program has said if it ends before. */
  until(isIt: () => Promise<boolean>): Promise<void>;
};

const startProgram = (program: Program, folder: string, settings: Settings): Running => {
  const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
  const log = join(folder, `${program}.log`);
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', pathOf(program), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, LOG: log },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  return {
    async until(isIt) {
      const said = () => readFile(log, 'utf8').catch(() => '');
      const isThere = await until(
        async () => (await isIt()) || (GIVES_UP.test(await said()) ? 'never' : false),
        Boolean,
        START_MS,
      ).catch(() => 'never');
      if (isThere === 'never')
        throw new Error(`${program} did not start: ${(await said()).slice(-SAID_MAX)}`);
    },
    [Symbol.asyncDispose]: () => end(keeper),
  };
};

const SAID_MAX = 10_000;

const end = async (keeper: ChildProcess): Promise<void> => {
  if (keeper.exitCode !== null) return;
  const exited = once(keeper, 'exit');
  keeper.stdin?.end();
  await exited;
};

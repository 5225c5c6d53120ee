import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type ControlPlane, startControlPlane } from './control-plane.ts';
import { controlPlaneMissing, definitions, pathOf } from './control-plane-programs.ts';
import { temporaryDataDir } from './data-dir.ts';
import { helmMissing, installHelm } from './helm.ts';
import { type Kubelets, type Pod, standInForKubelets } from './kubelet-stand-in.ts';

/** A cluster without kubelets to install the chart in, with Helm. */
export type Cluster = AsyncDisposable &
  Pick<ControlPlane, 'ask'> &
  Pick<Kubelets, 'hold'> & {
    /** Runs commands as an operator types them, in a folder of their own; the chart is where the docs have it. */
    shell(command: string, input?: string): Promise<string>;
    /** With the Secret and the volume that the values demand, where only restricted pods are admitted. */
    namespace(name: string, values: ChartValues): Promise<Namespace>;
  };

export type ChartValues = {
  readonly publicUrl: string;
  readonly secrets?: { readonly existing?: string; readonly keys?: Readonly<Record<string, string>> };
  readonly persistence?: { readonly existingClaim?: string };
};

export type Namespace = {
  readonly name: string;
  readonly values: string;
  /** A command of Helm's, of the release `annals` of the chart. */
  helm(command: string, flags?: string): Promise<string>;
  list<Item>(resource: string, component?: string): Promise<readonly Item[]>;
  /** The pods that are not about to go. */
  pods(component?: string): Promise<readonly Pod[]>;
  /** All that is there, by kind and name. */
  everything(): Promise<readonly string[]>;
};

export const clusterMissing: string | undefined = helmMissing ?? controlPlaneMissing;

const ROOT = join(import.meta.dirname, '../..');
const VOLUMES = 20;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** Not of the chart's making, and gone by itself. */
const OF_THE_CLUSTER =
  /^(?:event|endpointslice|endpoints|lease|serviceaccount\/default|configmap\/kube-root-ca)/;

export const startCluster = async (): Promise<Cluster> => {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryDataDir()).path;
  await mkdir(join(folder, 'bin'));
  await symlink(pathOf('kubectl'), join(folder, 'bin/kubectl'));
  const helm = await installHelm();
  if (helm !== 'helm') await symlink(helm, join(folder, 'bin/helm'));
  await symlink(join(ROOT, 'deploy'), join(folder, 'deploy'));
  const controlPlane = opening.use(await startControlPlane());
  const kubelets = opening.use(await standInForKubelets(controlPlane));
  const shell: Cluster['shell'] = async (command, input = '') => {
    const running = promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', command], {
      cwd: folder,
      env: {
        PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
        HOME: folder,
        KUBECONFIG: controlPlane.kubeconfig,
      },
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    running.child.stdin?.end(input);
    return (await running).stdout;
  };
  for (const file of definitions) await shell(`kubectl apply --server-side --filename ${file}`);
  await shell('kubectl wait --for=condition=Established customresourcedefinitions --all');
  for (let number = 1; number <= VOLUMES; number += 1)
    await controlPlane.ask('POST', '/api/v1/persistentvolumes', volume(number));
  const resources = opening.move();
  return {
    shell,
    ask: controlPlane.ask,
    hold: kubelets.hold,
    namespace: (name, values) => createNamespace({ folder, shell, ask: controlPlane.ask }, name, values),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
};

const volume = (number: number) => ({
  ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `volume-${number}` } },
  spec: {
    capacity: { storage: '20Gi' },
    accessModes: ['ReadWriteMany'],
    hostPath: { path: `/volumes/${number}` },
  },
});

const KEYS = {
  MASTER_KEY: 'master_key',
  DATABASE_URL: 'database_url',
  CLIENT_CERT_SECRET: 'client_cert_secret',
};

type Within = Pick<Cluster, 'shell' | 'ask'> & { readonly folder: string };

const createNamespace = async (
  { folder, shell, ask }: Within,
  name: string,
  values: ChartValues,
): Promise<Namespace> => {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await ask('POST', '/api/v1/namespaces', { metadata: { name, labels } });
  const path = `/api/v1/namespaces/${name}`;
  const keys = Object.values({ ...KEYS, ...values.secrets?.keys });
  await ask('POST', `${path}/secrets`, {
    metadata: { name: values.secrets?.existing ?? 'annals' },
    stringData: Object.fromEntries(keys.map((key) => [key, 'x'])),
  });
  if (values.persistence?.existingClaim)
    await ask('POST', `${path}/persistentvolumeclaims`, {
      metadata: { name: values.persistence.existingClaim },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '20Gi' } } },
    });
  const file = join(folder, `${name}.json`);
  await writeFile(file, JSON.stringify(values));
  const inNamespace = `--namespace ${name}`;
  const list = async <Item>(resource: string, component?: string): Promise<readonly Item[]> => {
    const selector = component === undefined ? '' : `--selector app.kubernetes.io/component=${component}`;
    const text = await shell(`kubectl get ${resource} ${inNamespace} ${selector} --output json`);
    return (JSON.parse(text) as { readonly items: readonly Item[] }).items;
  };
  return {
    name,
    values: file,
    list,
    pods: async (component) =>
      (await list<Pod>('pods', component)).filter(({ metadata }) => metadata.deletionTimestamp === undefined),
    helm: (command, flags = '') =>
      shell(
        `helm ${command} annals ${command === 'uninstall' || command === 'rollback' ? '' : 'deploy/helm/annals'} ${inNamespace} ${flags}`,
      ),
    async everything() {
      const kinds = await shell('kubectl api-resources --verbs=list --namespaced --output name');
      const all = kinds.trim().split('\n').join();
      const found = await shell(`kubectl get ${all} ${inNamespace} --output name --ignore-not-found`);
      return found.split('\n').filter((each) => each !== '' && !OF_THE_CLUSTER.test(each));
    },
  };
};

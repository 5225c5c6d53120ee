import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../testing/until.ts';
import { VALUES } from '../engines/chart-values.ts';
import {
  type ChartValues,
  type Cluster,
  clusterMissing,
  type Namespace,
  startCluster,
} from '../engines/cluster.ts';
import type { Pod } from '../engines/kubelet-stand-in.ts';

/**
 * The chart in the control plane of a real cluster: what it makes is admitted, and controllers and scheduler
 * make of it what they should. No container runs: the test says of pods that they are ready.
 */
if (clusterMissing !== undefined)
  process.stderr.write(`test/kubernetes/install.test.ts: left out, because ${clusterMissing}.\n`);

const PARTS = ['auth', 'command', 'projector', 'query', 'webhook-dispatcher', 'router'] as const;
const SETS = Object.entries(VALUES) as (readonly [string, ChartValues])[];
const WAIT_MS = 60_000;

type Deployment = {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly replicas: number };
  readonly status: { readonly availableReplicas?: number; readonly replicas?: number };
};
type Claim = { readonly status: { readonly phase: string } };
type Budget = { readonly status: { readonly expectedPods: number; readonly disruptionsAllowed: number } };
type Slice = {
  readonly ports: readonly { readonly name: string; readonly port: number }[] | null;
  readonly endpoints: readonly { readonly targetRef: { readonly uid: string } }[] | null;
};
type Scaler = {
  readonly spec: { readonly minReplicas: number; readonly scaleTargetRef: { readonly name: string } };
};

describe.skipIf(clusterMissing !== undefined)('the chart in a cluster', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster?.[Symbol.asyncDispose]());

  test.each(SETS)('the API server takes each field of "%s", and no other', async (set, values) => {
    const namespace = await cluster.namespace(`fields-${set}`, values);
    const rendered = await namespace.helm('template', `--values ${namespace.values}`);
    const apply = `kubectl apply --namespace ${namespace.name} --server-side --dry-run=server --validate=strict --filename -`;
    const taken = await cluster.shell(apply, rendered);
    expect(taken.trim().split('\n')).toHaveLength(rendered.match(/^kind: /gm)?.length ?? 0);
    const mistaken = rendered.replace('readinessProbe:', 'readynessProbe:');
    await expect(cluster.shell(apply, mistaken)).rejects.toThrow(/readynessProbe: field not declared/);
  });

  test.each(SETS)('"%s" is installed in its order, and uninstalled without a trace', async (set, values) => {
    const namespace = await cluster.namespace(`set-${set}`, values);
    const before = await namespace.everything();
    cluster.hold(
      ({ metadata }) => metadata.namespace === namespace.name && componentOf(metadata) === 'migrations',
    );
    const installing = namespace.helm('install', `--values ${namespace.values} --wait --timeout 10m`);
    installing.catch(() => {});
    if (set === 'small') await balance(namespace);
    else {
      await until(() => namespace.pods('migrations'), isRunning, WAIT_MS);
      // The first key is made before anything needs it.
      expect(await namespace.list('deployments')).toEqual([]);
    }
    cluster.hold(() => false);
    await installing;
    await expectScaled(namespace);
    for (const part of PARTS) await expectRunning(namespace, part);
    for (const claim of await namespace.list<Claim>('persistentvolumeclaims'))
      expect(claim.status.phase).toBe('Bound');
    expect(await namespace.list('jobs')).toEqual([]);
    await namespace.helm('uninstall', '--wait --timeout 10m');
    const left = async () => (await namespace.everything()).filter((each) => !before.includes(each));
    // Its data are kept.
    const kept = set === 'small' ? [] : ['persistentvolumeclaim/annals-data'];
    await until(left, (found) => found.length === kept.length, WAIT_MS);
    expect(await left()).toEqual(kept);
  });

  /** There is no cloud to give it an address. */
  const balance = async ({ name }: Namespace): Promise<void> => {
    const path = `/api/v1/namespaces/${name}/services/annals-router/status`;
    const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } };
    await until(
      () => cluster.ask('PATCH', path, { status }).catch(() => undefined),
      (answer) => answer !== undefined,
      WAIT_MS,
    );
  };
});

const componentOf = ({ labels }: Pod['metadata']): string | undefined =>
  labels['app.kubernetes.io/component'];

const isRunning = (pods: readonly Pod[]): boolean => pods.some(({ status }) => status.phase === 'Running');

const expectRunning = async (namespace: Namespace, part: string): Promise<void> => {
  const pods = await namespace.pods(part);
  const [deployment] = await namespace.list<Deployment>('deployments', part);
  expect(deployment?.status.availableReplicas, part).toBe(pods.length);
  expect(deployment?.spec.replicas, part).toBe(pods.length);
  // In zones of their own, on machines of their own.
  const zones = pods.map(({ spec }) => spec.nodeName?.split('-')[0]);
  if (pods.length === 2) expect(new Set(zones).size, part).toBe(2);
  const [budget] = await namespace.list<Budget>('poddisruptionbudgets', part);
  expect(budget?.status, part).toMatchObject({ expectedPods: pods.length, disruptionsAllowed: 1 });
  const slices = await until(
    () => namespace.list<Slice>('endpointslices', part),
    (found) => found.flatMap(({ endpoints }) => endpoints ?? []).length === pods.length,
  );
  const reached = slices.flatMap(({ endpoints }) => endpoints?.map(({ targetRef }) => targetRef.uid) ?? []);
  expect(reached.toSorted()).toEqual(pods.map(({ metadata }) => metadata.uid).toSorted());
  for (const { ports } of slices)
    expect(ports?.map(({ name, port }) => [name, port]).toSorted(), part).toEqual(PORTS[part] ?? PORTS.role);
};

const PORTS: Readonly<Record<string, readonly (readonly [string, number])[]>> = {
  role: [
    ['http', 4000],
    ['metrics', 9464],
  ],
  command: [
    ['commands', 4100],
    ['http', 4000],
    ['metrics', 9464],
  ],
  router: [['http', 8080]],
};

/** There are no measurements here, but the least number of pods needs none. */
const expectScaled = async (namespace: Namespace): Promise<void> => {
  for (const { spec } of await namespace.list<Scaler>('horizontalpodautoscalers')) {
    const name = spec.scaleTargetRef.name;
    await until(
      () => namespace.list<Deployment>('deployments'),
      (all) =>
        all.some(
          ({ metadata, status }) => metadata.name === name && status.availableReplicas === spec.minReplicas,
        ),
      WAIT_MS,
    );
  }
};

import type { ControlPlane } from './control-plane.ts';

/**
 * Says of pods what kubelets say of them, though nothing runs: what is on a machine is ready, and gone once it
 * is to go. So the controllers and Helm do what they do in a cluster.
 */
export type Kubelets = AsyncDisposable & {
  /** Jobs whose pods run on without an end. */
  hold(isHeld: (pod: Pod) => boolean): void;
};

export type Pod = {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly restartPolicy: string;
    readonly containers: readonly { readonly name: string; readonly image: string }[];
  };
  readonly status: { readonly phase: string; readonly podIP?: string };
};

/** Two in each of two zones. */
const MACHINES = ['a', 'b'].flatMap((zone) => [1, 2].map((number) => ({ name: `${zone}-${number}`, zone })));
const ROOM = { cpu: '64', memory: '256Gi', pods: '500' };
const LOOK_EVERY_MS = 200;

export const standInForKubelets = async (cluster: ControlPlane): Promise<Kubelets> => {
  for (const { name, zone } of MACHINES) await addMachine(cluster, name, zone);
  let isHeld: (pod: Pod) => boolean = () => false;
  let failure: unknown;
  const stopped = new AbortController();
  const working = (async () => {
    while (!stopped.signal.aborted) {
      const { items } = (await cluster.ask('GET', '/api/v1/pods')) as { readonly items: readonly Pod[] };
      await Promise.all(items.map((pod) => sayOf(cluster, pod, isHeld(pod))));
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  })().catch((error: unknown) => {
    failure = error;
  });
  return {
    hold(which) {
      isHeld = which;
    },
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await working;
      if (failure !== undefined) throw failure;
    },
  };
};

const addMachine = async (cluster: ControlPlane, name: string, zone: string): Promise<void> => {
  const labels = {
    'kubernetes.io/hostname': name,
    'topology.kubernetes.io/zone': zone,
    'kubernetes.io/os': 'linux',
    disk: 'fast',
  };
  await cluster.ask('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
  });
  await cluster.ask('PATCH', `/api/v1/nodes/${name}/status`, {
    status: { capacity: ROOM, allocatable: ROOM, conditions: [condition('Ready')] },
  });
  // New machines are not used until a controller has received a message from their kubelet.
  await cluster.ask('PATCH', `/api/v1/nodes/${name}`, { spec: { taints: null } });
};

const condition = (type: string) => ({
  type,
  status: 'True',
  reason: 'StandIn',
  lastTransitionTime: now(),
});

const sayOf = async (cluster: ControlPlane, pod: Pod, isHeld: boolean): Promise<void> => {
  const { name, namespace, uid, deletionTimestamp } = pod.metadata;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const said =
    deletionTimestamp !== undefined
      ? () => cluster.ask('DELETE', path, { gracePeriodSeconds: 0, preconditions: { uid } })
      : pod.spec.nodeName !== undefined && needsWord(pod, isHeld)
        ? () => cluster.ask('PATCH', `${path}/status`, { metadata: { uid }, status: statusOf(pod, isHeld) })
        : undefined;
  await said?.().catch((error: unknown) => {
    // The pod has gone meanwhile, or was replaced by another of its name.
    if (!/: (?:404|409) /.test(String(error))) throw error;
  });
};

const runsOnce = ({ spec }: Pod): boolean => spec.restartPolicy === 'Never';

const needsWord = (pod: Pod, isHeld: boolean): boolean =>
  pod.status.phase === 'Pending' || (pod.status.phase === 'Running' && runsOnce(pod) && !isHeld);

const now = (): string => new Date().toISOString().replace(/\.\d+/, '');

const statusOf = (pod: Pod, isHeld: boolean) => {
  const isOver = runsOnce(pod) && !isHeld;
  const times = { startedAt: now(), finishedAt: now() };
  const state = isOver
    ? { running: null, terminated: { exitCode: 0, reason: 'Completed', ...times } }
    : { running: { startedAt: times.startedAt } };
  return {
    phase: isOver ? 'Succeeded' : 'Running',
    // The address stays what it was.
    ...(pod.status.podIP === undefined && addressed()),
    conditions: isOver ? [] : ['Initialized', 'ContainersReady', 'Ready'].map(condition),
    containerStatuses: pod.spec.containers.map(({ name, image }) => ({
      ...{ name, image, imageID: '', restartCount: 0, state },
      ...{ ready: !isOver, started: !isOver },
    })),
  };
};

let addresses = 0;

const addressed = () => {
  addresses += 1;
  const ip = `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
  return { podIP: ip, podIPs: [{ ip }], startTime: now() };
};

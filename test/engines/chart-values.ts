import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import * as z from 'zod';

/** The values with which tests install the chart: five sets, and those of its page. */
export const KUBERNETES_PAGE = readFileSync(new URL('../../docs/kubernetes.md', import.meta.url), 'utf8');
export const PUBLIC_URL = 'https://annals.example';

const enabled = { enabled: true };
export const VALUES = {
  least: { publicUrl: PUBLIC_URL },
  whole: {
    publicUrl: PUBLIC_URL,
    image: { repository: 'registry.example/annals', tag: '1.2.3' },
    imagePullSecrets: [{ name: 'registry' }],
    roles: {
      command: { autoscaling: enabled },
      query: { autoscaling: enabled },
      'webhook-dispatcher': { autoscaling: enabled },
    },
    router: { trustedProxies: ['10.0.0.0/8', 'fd00::/8'], service: { annotations: { one: 'two' } } },
    ingress: { enabled: true, className: 'public', annotations: { one: 'two' }, tlsSecret: 'tls' },
    monitoring: { serviceMonitor: enabled, rules: enabled, dashboard: enabled },
    podAnnotations: { one: 'two' },
  },
  gateway: {
    publicUrl: PUBLIC_URL,
    scaler: 'keda',
    roles: { 'webhook-dispatcher': { autoscaling: { enabled: true, due: 100 } }, command: { tag: 'former' } },
    gateway: { enabled: true, parentRefs: [{ name: 'public', namespace: 'gateways' }] },
    networkPolicy: { clients: [{ namespaceSelector: {} }], metrics: [{ namespaceSelector: {} }] },
  },
  engines: {
    publicUrl: PUBLIC_URL,
    settings: { CHANGE_STREAM_URL: 'kafka://kafka:9092', RATE_LIMIT: '200' },
    secrets: {
      existing: 'mine',
      keys: {
        ...{ MASTER_KEY: 'key', DATABASE_URL: 'database', CLIENT_CERT_SECRET: 'certificates' },
        ...{
          EVENT_LOG_URL: 'log',
          JOB_QUEUE_URL: 'redis',
          RATE_LIMIT_URL: 'redis',
          READ_DATABASE_URL: 'replicas',
        },
      },
    },
    roles: { auth: { settings: { MAIL_FROM: 'Annals <annals@example.com>', MAIL_URL: 'smtp://mail:25' } } },
  },
  small: {
    publicUrl: 'http://annals.internal:8080',
    settings: { BLOB_URL: 's3://bucket', DRAIN_MS: '5000' },
    persistence: { existingClaim: 'mine' },
    networkPolicy: { enabled: false },
    migrations: { enabled: false },
    router: { replicas: 1, service: { type: 'LoadBalancer', port: 443 } },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'one', operator: 'Exists' }],
  },
  page: z
    .looseObject({ publicUrl: z.string(), secrets: z.object({ keys: z.record(z.string(), z.string()) }) })
    .parse(parse(/^```yaml\n([\s\S]*?)^```$/m.exec(KUBERNETES_PAGE)?.[1] ?? '')),
} as const;

/** Durable, reachable from this machine only, and sized for a small one. */
const DEFAULTS: Readonly<Record<string, string>> = {
  fsync: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
  logging_collector: 'off',
};

/** The command line of the server. */
export const serverArguments = (pgdata: string, port: number, settings: Readonly<Record<string, string>>): string[] => [
  '-D',
  pgdata,
  '-p',
  String(port),
  ...Object.entries({ ...DEFAULTS, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
];

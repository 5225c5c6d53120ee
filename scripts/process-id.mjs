// Names a process so that another with the same number, after its end or after a restart of the machine, has
// another name. Plain JavaScript without dependencies: ensure-installed.mjs runs on whatever Node started npm.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** The number of the process and the time of its start, as the name of a file. */
export const processName = (pid) => `${pid}.${startOf(pid) ?? ''}`;

/** Where the time of the start is unknown, the number alone decides. */
export const isRunning = (name) => {
  const [number = '', start = ''] = name.split('.');
  const pid = Number(number);
  if (!Number.isSafeInteger(pid) || pid <= 0 || !exists(pid)) return false;
  const now = start === '' ? undefined : startOf(pid);
  return now === undefined || now === start;
};

const exists = (pid) => {
  try {
    return process.kill(pid, 0);
  } catch ({ code }) {
    return code === 'EPERM';
  }
};

const startOf = (pid) => (process.platform === 'linux' ? startOnLinux(pid) : startElsewhere(pid));

/** Proc(5): the 22nd field, counted after the name of the program, which may have spaces and brackets. */
const FIELDS_AFTER_NAME = 19;

/** In ticks since the start of the machine, which has an id. */
const startOnLinux = (pid) => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[FIELDS_AFTER_NAME];
    const machine = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${ticks}-${machine}`;
  } catch {
    return undefined;
  }
};

const startElsewhere = (pid) => {
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' };
  const { stdout = '' } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { env, encoding: 'utf8' });
  return stdout?.trim().replaceAll(/[^0-9A-Za-z]+/g, '-') || undefined;
};

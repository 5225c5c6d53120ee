import { readdir, readFile } from 'node:fs/promises';
import { statOf } from '../turns.ts';

const MEBIBYTE_KIB = 1_024;

const kibibytes = async (path: string, name: string): Promise<number> => {
  const text = await readFile(path, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN);
};

/** The resident memory of a process, on Linux. */
export const residentMebibytes = async (pid: number | undefined): Promise<number> =>
  (await kibibytes(`/proc/${pid}/status`, 'VmRSS')) / MEBIBYTE_KIB;

/** The memory of a database: its processes share pages, so each counts its part of them. Only root sees it. */
export const databaseMebibytes = async (postmasterPid: number): Promise<number> => {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const owners = await Promise.all(
    pids.map(async (pid) => ({ pid, parentPid: (await statOf(pid)).parentPid })),
  );
  const own = owners.filter(({ pid, parentPid }) => pid === postmasterPid || parentPid === postmasterPid);
  const parts = await Promise.all(own.map(({ pid }) => kibibytes(`/proc/${pid}/smaps_rollup`, 'Pss')));
  return parts.reduce((sum, part) => sum + part, 0) / MEBIBYTE_KIB;
};

import { TILE_WIDTH } from './growing-tree.ts';

/** A tile of the tree, or without a level the entries of as many leaves (C2SP tlog-tiles). */
export type NamedTile = {
  readonly level: number | undefined;
  readonly index: number;
  readonly width: number;
};

/** `<level>/<index>` or `<level>/<index>.p/<width>`; the index in groups of three digits. */
export const tilePath = ({ level, index, width }: NamedTile): string => {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `${level ?? 'entries'}/${path}${width < TILE_WIDTH ? `.p/${width}` : ''}`;
};

const FORM = /^(?<level>entries|\d{1,2})\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>\d{1,3}))?$/;
const LEVEL_MAX = 63;
/** More tiles than any log has. */
const PATH_MAX = 40;

/** Undefined if the path is none, or another spelling of one: each tile has one path, so caches keep it once. */
export const parseTilePath = (path: string): NamedTile | undefined => {
  const { level, index, width = TILE_WIDTH } = (path.length <= PATH_MAX && FORM.exec(path)?.groups) || {};
  if (index === undefined || Number(width) < 1 || Number(width) > TILE_WIDTH) return undefined;
  if (level !== 'entries' && Number(level) > LEVEL_MAX) return undefined;
  const tile = {
    level: level === 'entries' ? undefined : Number(level),
    index: Number(index.replaceAll(/[x/]/g, '')),
    width: Number(width),
  };
  return tilePath(tile) === path ? tile : undefined;
};

import { targetOf } from './names.ts';

/** The aggregate of every domain whose operations, rights and erasure the kernel knows. */
const USER = 'user';

export const isUser = ({ name }: { readonly name: string }): boolean => name === USER;

/** True for a reference to a user. */
export const leadsToUser = (def: Parameters<typeof targetOf>[0]): boolean =>
  def.kind === 'ref' && targetOf(def) === USER;

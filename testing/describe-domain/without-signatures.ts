import type { Domain, Kind } from '#kernel/registry/registry.ts';
import { hasSigned } from '#kernel/registry/signed.ts';

/**
 * The same domain, in which nobody signs: signatures belong to the kernel, whose own tests make them with a
 * passkey. All else that is declared of these commands is tested as of any other. Says so, because a suite must
 * not hide it.
 */
export const withoutSignatures = (domain: Domain): Domain => {
  if (!hasSigned(domain)) return domain;
  const names = Object.values(domain.kinds).flatMap(({ name, commands }) =>
    Object.values(commands).flatMap((each) => (each.signed === undefined ? [] : [`${name}.${each.name}`])),
  );
  process.stderr.write(
    `${domain.name}: sends ${names.join(', ')} without signatures, which are left to the tests of Annals.\n`,
  );
  return {
    ...domain,
    kinds: Object.fromEntries(Object.entries(domain.kinds).map(([name, kind]) => [name, unsigned(kind)])),
  };
};

const unsigned = (kind: Kind): Kind => ({
  ...kind,
  commands: Object.fromEntries(
    Object.entries(kind.commands).map(([name, command]) => [name, { ...command, signed: undefined }]),
  ),
  ...(kind.confirms !== undefined && {
    confirms: kind.confirms.map((each) => ({ ...each, signed: undefined })),
  }),
});

// CHANGELOG.md has a section for each release, the newest first, and above them one for unreleased changes.

const UNRELEASED = '## Unreleased';

/** The text of a section, without its heading. */
const sectionOf = (changelog: string, heading: string): string | undefined => {
  const start = changelog.indexOf(`${heading}\n`);
  if (start < 0) return undefined;
  const text = changelog.slice(start + heading.length);
  const end = text.indexOf('\n## ');
  return (end < 0 ? text : text.slice(0, end)).trim();
};

const headingOf = (changelog: string, version: string): string | undefined =>
  changelog.split('\n').find((line) => line.startsWith(`## ${version} (`));

/** Turns the unreleased changes into the section of a version. */
export const release = (changelog: string, version: string, day: string): string => {
  if (headingOf(changelog, version) !== undefined)
    throw new Error(`CHANGELOG.md already has a section for ${version}.`);
  if (!sectionOf(changelog, UNRELEASED))
    throw new Error(`CHANGELOG.md has nothing under "${UNRELEASED}": there is nothing to release.`);
  return changelog.replace(`${UNRELEASED}\n`, `${UNRELEASED}\n\n## ${version} (${day})\n`);
};

export const notesOf = (changelog: string, version: string): string => {
  const heading = headingOf(changelog, version);
  const notes = heading === undefined ? undefined : sectionOf(changelog, heading);
  if (notes === undefined)
    throw new Error(`CHANGELOG.md has no section for ${version}: npm version writes it.`);
  return `${notes}\n`;
};

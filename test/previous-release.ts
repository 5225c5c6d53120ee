/** The commit of the previous release, whose processes run on while this release replaces them. */
export const PREVIOUS_RELEASE = 'f92888d9a9cd86026e1a32d380bc1e8d312cf285';

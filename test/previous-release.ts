/** The commit of the release before this one, whose processes go on while this one takes their places. */
export const PREVIOUS_RELEASE = 'f92888d9a9cd86026e1a32d380bc1e8d312cf285';

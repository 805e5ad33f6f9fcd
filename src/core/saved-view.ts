export const viewPages = ['mismatches', 'deposits'] as const

export type ViewPage = (typeof viewPages)[number]

/** A list of the console under a name. `query` is the address of the list without its path. */
export type SavedView = { page: ViewPage; name: string; query: string; savedBy: string }

export const viewNameMax = 60

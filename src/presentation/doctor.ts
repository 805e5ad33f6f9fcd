import type { TableColumn } from './text.ts'

/** `fix` is empty if all is well. */
export type DoctorFinding = { check: string; state: 'ok' | 'warning' | 'fault'; says: string; fix: string }

export const findingColumns: TableColumn<DoctorFinding>[] = [
  { title: 'CHECK', value: ({ check }) => check },
  { title: 'STATE', value: ({ state }) => state },
  { title: 'RESULT', value: ({ says }) => says },
  { title: 'FIX', value: ({ fix }) => fix },
]

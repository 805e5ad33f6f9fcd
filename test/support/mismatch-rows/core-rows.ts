import { identityRows } from './identity.ts'
import { matterRows } from './matter.ts'
import { presenceRows } from './presence.ts'
import type { Row } from './row.ts'
import { stateRows } from './state.ts'
import { stuckRows } from './stuck.ts'
import { valueRows } from './value.ts'

/** Of every kind that the evidence of a deposit raises. */
export const coreRows: readonly Row[] = [
  ...presenceRows,
  ...valueRows,
  ...identityRows,
  ...stateRows,
  ...stuckRows,
  ...matterRows,
]

import { courseRows } from './course.ts'
import { identityRows } from './identity.ts'
import { presenceRows } from './presence.ts'
import type { Row } from './row.ts'
import { valueRows } from './value.ts'

/** Of every kind that the evidence of a deposit raises. */
export const coreRows: readonly Row[] = [...presenceRows, ...valueRows, ...identityRows, ...courseRows]

import { expect, test } from 'vitest'
import { measureHistory } from '../history/measure.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'

/** The measure itself is `DEPOSITS=100000 npm run history -- --recorded --onboard --networks base`. */

const folder = temporaryFolderOfFile()
/** More than the samples of the profile, so that the estimate needs more. */
const deposits = 250
/** Time limits hold on a machine of its own only. */
const isTimed = /^new payments/

test('a year of deposits is onboarded and read, although both commands are killed in the middle', async () => {
  const choices = { deposits, owners: 4, networks: ['base'], isRecorded: true, isOnboarded: true, folder }
  const measured = await measureHistory({ ...choices, rate: 200, kills: 1 }, () => undefined)
  expect(measured.onboarded?.estimate).toMatch(
    / on: \d{3} deposits; calls of the list: \d+\n {2}base: .* cost \d/,
  )
  const exceeded = measured.lines.filter(({ what, isHeld }) => isHeld === false && !isTimed.test(what))
  expect(exceeded).toEqual([])
  expect(measured.states.reconciled).toBeGreaterThanOrEqual(deposits)
  expect(Object.keys(measured.states).filter((state) => !/^(reconciled|ignored)$/.test(state))).toEqual([])
}, 900_000)

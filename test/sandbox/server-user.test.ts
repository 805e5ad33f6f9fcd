import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { canReach } from '../../src/sandbox/postgres-cluster.ts'
import { temporaryFolder } from '../support/folder.ts'

const outsider = { uid: 54_321, gid: 54_321 }

test('a file is out of reach for a user who may not pass through one of the folders above it', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'data')
  await chmod(folder, 0o700)
  expect(canReach(file, outsider)).toBe(false)
  await chmod(folder, 0o711)
  expect(canReach(file, outsider)).toBe(true)
})

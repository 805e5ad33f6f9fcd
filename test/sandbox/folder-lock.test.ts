import { expect, test } from 'vitest'
import { lockFolder } from '../../src/sandbox/ground.ts'
import { temporaryFolder } from '../support/folder.ts'
import { runProgram } from '../support/programs.ts'

test('a second program in a folder is refused with the number of the first, until that one is killed', async () => {
  const folder = await temporaryFolder()
  const first = await runProgram('test/sandbox/fixtures/hold-folder.ts', folder)
  const refusal = `process ${first.process.pid} is already running in ${folder}", fix "end it (kill ${first.process.pid})`
  expect(() => lockFolder(folder)).toThrow(refusal)
  await first.killHard()
  lockFolder(folder).release()
})

test('a folder can be held again once it was released', async () => {
  const folder = await temporaryFolder()
  lockFolder(folder).release()
  const lock = lockFolder(folder)
  expect(() => lockFolder(folder)).toThrow('already running')
  lock.release()
})

import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { runCommand } from '../support/command.ts'

let script = ''
beforeAll(async () => {
  script = (await runCommand('completion bash', {})).out
})

/** What bash offers for the last word of a line, after it has split it. */
function complete(words: readonly string[]): string[] {
  const ask = `${script}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _depositd; printf '%s\\n' "\${COMPREPLY[@]}"`
  const text = execFileSync('bash', ['-c', ask, 'bash', ...words]).toString()
  return text.split('\n').filter((line) => line !== '')
}

test.each([
  ['a command', ['depositd', 'dep'], ['deposits']],
  ['a command of a group', ['bin/depositd', 'ledger', 's'], ['statement', 'seal']],
  [
    'a command of a group in a group',
    ['depositd', 'ledger', 'checkpoints', ''],
    ['list', 'export', 'prove', '-h', '--help'],
  ],
  ['an option', ['depositd', 'deposits', 'list', '--st'], ['--state']],
  ['an option after another', ['depositd', 'deposits', 'list', '--state', 'settled', '--ow'], ['--owner']],
  ['the value of an option', ['depositd', 'deposits', 'list', '--state', 'sett'], ['settling', 'settled']],
  ['a value after an equals sign', ['depositd', 'deposits', 'list', '--state', '=', 'obs'], ['observed']],
  ['an argument', ['depositd', 'completion', 'f'], ['fish']],
  ['no word for a free value', ['depositd', 'deposits', 'list', '--owner', ''], []],
  ['no hidden command', ['depositd', 'compose'], []],
])('bash completes %s', (_, words, offered) => {
  expect(complete(words)).toEqual(offered)
})

test.each(['bash', 'zsh', 'fish'])('the script for %s contains every kind of word', async (shell) => {
  const { status, out } = await runCommand(`completion ${shell}`, {})
  expect(status).toBe(0)
  for (const word of ['deposits', 'ledger checkpoints', 'state', 'reconciled']) expect(out).toContain(word)
})

test('an unknown shell is refused with the known ones', async () => {
  expect(await runCommand('completion powershell', {})).toEqual({
    status: 2,
    out: '',
    err: 'depositd: the shell is "powershell"; use bash, zsh, fish\n',
  })
})

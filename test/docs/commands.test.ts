import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { run } from '../../src/cli/run.ts'
import { allPages, readText } from './pages.ts'

const pages = allPages().filter((page) => readText(page).includes('bin/depositd '))

const helps = new Map<string, Promise<string>>()

function helpOf(path: readonly string[]): Promise<string> {
  const key = path.join(' ')
  const known = helps.get(key) ?? readHelp(path)
  helps.set(key, known)
  return known
}

async function readHelp(path: readonly string[]): Promise<string> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const status = process.exitCode
  await run({ arguments: [...path, '--help'], environment: {}, stdout, stderr })
  process.exitCode = status
  stdout.end()
  return text(stdout)
}

/** The commands of a page, in code blocks and in the text, without what a shell does with them. */
function commandsOf(page: string): string[] {
  const source = readText(page).replaceAll('\\\n', ' ')
  return [...source.matchAll(/bin\/depositd ([^`\n]+)/g)].map(([, words = '']) =>
    words
      .replace(/(?:\s#|[|>;)&]).*$/, '')
      .replaceAll(/"[^"]*"|'[^']*'/g, 'TEXT')
      .trim(),
  )
}

/** The options that the command does not have, or the command itself if there is none. */
async function unknownOf(command: string): Promise<string[]> {
  const words = command.split(/\s+/)
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  const names = end === -1 ? words : words.slice(0, end)
  for (let length = names.length; length > 0; length--) {
    const path = names.slice(0, length)
    const help = await helpOf(path)
    if (new RegExp(`^Usage: depositd ${path.join(' ')}(?: |$)`, 'm').test(help)) {
      if (length < names.length && help.includes(' [command]')) return [names.slice(0, length + 1).join(' ')]
      const options = words
        .filter((word) => /^--[a-z]/.test(word))
        .map((word) => word.replace(/[.,:…]+$/, ''))
      const common = ['--help', '--debug', '--version']
      return options.filter((option) => !common.includes(option) && !new RegExp(`${option}[ ,\n]`).test(help))
    }
  }
  return words[0]?.startsWith('--') === true || /^[A-Z…]/.test(words[0] ?? '') ? [] : [command]
}

test.each(pages)('%s names only commands and options that exist', async (page) => {
  const commands = commandsOf(page)
  const unknown = await Promise.all(commands.map(unknownOf))
  expect(unknown.flat()).toEqual([])
})

test('an unknown command and an unknown option are found', async () => {
  expect(await unknownOf('deposits lost')).toEqual(['deposits lost'])
  expect(await unknownOf('depositz list')).toEqual(['depositz list'])
  expect(await unknownOf('deposits list --colour')).toEqual(['--colour'])
})

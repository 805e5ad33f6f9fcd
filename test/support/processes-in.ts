import { readdir, readFile, readlink } from 'node:fs/promises'

/** The command lines of the programs that run in the folder or below it. */
export async function processesIn(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    ids.map(async (id) => {
      const place = await readlink(`/proc/${id}/cwd`).catch(() => '')
      return place.startsWith(folder) ? readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => id) : ''
    }),
  )
  return found.filter((line) => line !== '')
}

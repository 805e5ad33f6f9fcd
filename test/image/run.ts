import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildImage, mountImage } from './build.ts'
import { step } from './step.ts'

const megabytes = (bytes: number) => `${Math.round(bytes / 1e6)} MB`

/**
 * `npm run image:test`: builds the image of the Dockerfile, and runs the compose file with it, as far as this machine can. The
 * containers have a network of their own, so every port is free.
 */
const built = await step('build the image', buildImage)
if (built !== null) {
  process.stdout.write(
    `size: ${megabytes(built.bytes)}, ${megabytes(built.ownBytes)} of them above the base\n`,
  )
  const { remove, ...image } = mountImage()
  const folder = mkdtempSync(join(tmpdir(), 'depositd-image-'))
  try {
    const script = `ip link set lo up; exec "$@"`
    const program = [
      process.execPath,
      join(import.meta.dirname, 'compose-up.ts'),
      folder,
      JSON.stringify(image),
    ]
    const { status } = spawnSync('unshare', ['--net', '--mount', 'sh', '-c', script, 'sh', ...program], {
      stdio: 'inherit',
    })
    if (status !== 0) process.exitCode = 1
  } finally {
    // What was mounted in it was mounted in the namespace of that process only, which has ended.
    rmSync(folder, { recursive: true, force: true })
    remove()
  }
}

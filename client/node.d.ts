// The little of Node that scripts and tests use, so that its types need not be installed.
declare module 'node:fs' {
  export function readFileSync(path: URL, encoding: 'utf8'): string;
  export function readdirSync(path: URL, options?: { recursive?: boolean }): string[];
  export function existsSync(path: URL): boolean;
}
declare module 'node:test' {
  export default function test(name: string, body: () => void | Promise<void>): void;
}
declare module 'node:assert/strict' {
  const assert: {
    equal(actual: unknown, expected: unknown, message?: string): void;
    deepEqual(actual: unknown, expected: unknown, message?: string): void;
    ok(value: unknown, message?: string): void;
  };
  export default assert;
}
declare const process: { exit(code: number): never };

//! The program `transship`.

fn main() -> std::process::ExitCode {
    transship_engine::cli::main()
}

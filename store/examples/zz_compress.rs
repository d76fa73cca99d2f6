use std::time::Instant;
fn main(){
 let words=["handbill","page","publish","agent","reader","paper","street","corner","printed","morning","crowd","letters","ink","pasted","wall","news"];
 let mut x:u64=12345; let mut html=String::from("<!doctype html><title>abc</title><body>");
 while html.len()<4090 { x=x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); let a=(x>>33) as usize; match (a>>8)&255 {0..=7=>html.push_str("<p class=\"text\">"),8..=39=>html.push_str(&format!("{:x}",a&0xfffff)),_=>html.push_str(words[a%16])}; html.push(' ');}
 let c=html.as_bytes();
 for big in [1usize, 16, 128] { let data=c.repeat(1); let mut data2=data.clone(); if big>1 { data2.clear(); for i in 0..big { let mut p=html.clone(); p.insert_str(10,&i.to_string()); data2.extend_from_slice(p.as_bytes()); } }
 for q in [4,5,6,7,8,9,10,11]{ for lgwin in [22]{
  let n=if big==1 {100} else {5}; let t=Instant::now(); let mut len=0;
  for _ in 0..n { let p=brotli::enc::BrotliEncoderParams{quality:q,lgwin,size_hint:data2.len(),..Default::default()}; let mut out=Vec::new(); brotli::BrotliCompress(&mut &data2[..],&mut out,&p).unwrap(); len=out.len(); }
  println!("size {} brotli q{q} lgwin {lgwin}: {} bytes {:?}", data2.len(), len, t.elapsed()/n);
 }}
 for l in [3,6,9,12,15,19]{ let n=100; let t=Instant::now(); let mut len=0; for _ in 0..n { len=zstd::bulk::compress(&data2,l).unwrap().len(); } println!("zstd {l}: {len} {:?}", t.elapsed()/n);}
 for l in [6,9]{ use std::io::Write; let n=100; let t=Instant::now(); let mut len=0; for _ in 0..n { let mut e=flate2::write::GzEncoder::new(Vec::new(),flate2::Compression::new(l)); e.write_all(&data2).unwrap(); len=e.finish().unwrap().len(); } println!("gzip {l}: {len} {:?}", t.elapsed()/n);}
 }
}
